//! Reports of two hand-made ledgers, compared with snapshots. `UPDATE_EXPECT=1` updates them; read the difference.

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
