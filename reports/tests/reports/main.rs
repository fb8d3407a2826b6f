//! Reports over two hand-made ledgers, held against snapshots. `UPDATE_EXPECT=1` writes them again; read the difference.

mod agreement;
mod contradictions;
mod diff;
mod everything;
mod files;
mod html;
mod json;
mod judged;
mod junit;
mod left_out;
mod markdown;
mod sample;
mod sarif;
mod screen;
mod summary;
mod table;
mod text;
mod unfinished;
