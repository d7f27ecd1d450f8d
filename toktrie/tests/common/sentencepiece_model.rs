//! SentencePiece model files made up for tests.

// Piece types of the format.
pub const NORMAL: u8 = 1;
pub const UNKNOWN: u8 = 2;
pub const CONTROL: u8 = 3;
pub const USER_DEFINED: u8 = 4;
pub const UNUSED: u8 = 5;
pub const BYTE: u8 = 6;
// Model types of the format.
pub const UNIGRAM: u8 = 1;
pub const BPE: u8 = 2;

/// A model file with these pieces.
pub fn model(model_type: u8, pieces: &[(&str, f32, u8)]) -> Vec<u8> {
    let mut file = Vec::new();
    for &(text, score, kind) in pieces {
        let mut piece = vec![0x0a, text.len() as u8];
        piece.extend(text.as_bytes());
        piece.push(0x15);
        piece.extend(score.to_le_bytes());
        piece.extend([0x18, kind]);
        file.extend([0x0a, piece.len() as u8]);
        file.extend(piece);
    }
    file.extend([0x12, 2, 0x18, model_type]);
    file
}
