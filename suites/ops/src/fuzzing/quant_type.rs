//! Fuzzing of the reader of quantized types and of the ops on them.

use tiebreak_mlir::quant_type::{Explanation, Item, parse};

/// Reads `text` as a type or an op. An error must have a message and a valid place. An accepted text must round-trip and be explained.
pub fn quant_type(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else { return };
    let read = match parse(text) {
        Ok(read) => read,
        Err(error) => {
            assert!(text.is_char_boundary(error.span.start) && text.get(error.span.clone()).is_some(), "{error}");
            assert_eq!(error.to_string().lines().count(), 3, "{error}");
            return;
        }
    };
    let printed = read.to_string();
    match parse(&printed) {
        Ok(again) => assert!(again == read && again.to_string() == printed, "{text}: {printed}"),
        Err(error) => panic!("{text}: {error}"),
    }
    let ty = match &read {
        Item::Type(ty) => ty,
        Item::Op(op) => &op.result,
    };
    let _explained = ty.uniform().map(Explanation::new);
}
