//! AES-256-CBC with PKCS#7, as Feishu and DingTalk encrypt. It proves nothing about who wrote a text;
//! that is what the signature beside it is for.

use aes::Aes256;
use cbc::cipher::block_padding::NoPadding;
use cbc::cipher::{BlockModeDecrypt, BlockModeEncrypt, KeyIvInit};

use super::SignatureRefusal;

/// `padding` is the size of a block to the platform: 16, or 32 with DingTalk.
pub(crate) fn decrypt(
    key: &[u8; 32],
    iv: &[u8; 16],
    text: &[u8],
    padding: usize,
) -> Result<Vec<u8>, SignatureRefusal> {
    let cipher = cbc::Decryptor::<Aes256>::new(key.into(), iv.into());
    let mut plain =
        cipher.decrypt_padded_vec::<NoPadding>(text).map_err(|_| SignatureRefusal::Cipher)?;
    let last = plain.last().copied().ok_or(SignatureRefusal::Cipher)?;
    let count = usize::from(last);
    // Every byte of the padding is looked at: a text that merely ends in a small number is not ours.
    let padded = (1..=padding.min(plain.len())).contains(&count)
        && plain[plain.len() - count..].iter().all(|byte| *byte == last);
    if !padded {
        return Err(SignatureRefusal::Cipher);
    }
    plain.truncate(plain.len() - count);
    Ok(plain)
}

pub(crate) fn encrypt(key: &[u8; 32], iv: &[u8; 16], text: &[u8], padding: usize) -> Vec<u8> {
    let count = padding - text.len() % padding;
    let mut padded = text.to_vec();
    padded.extend(std::iter::repeat_n(count as u8, count));
    cbc::Encryptor::<Aes256>::new(key.into(), iv.into()).encrypt_padded_vec::<NoPadding>(&padded)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_encrypted_is_decrypted(key in any::<[u8; 32]>(), iv in any::<[u8; 16]>(), text in prop::collection::vec(any::<u8>(), 0..100)) {
            for padding in [16, 32] {
                let cipher = encrypt(&key, &iv, &text, padding);
                prop_assert_eq!(decrypt(&key, &iv, &cipher, padding), Ok(text.clone()));
                prop_assert_eq!(decrypt(&key, &iv, &cipher[1..], padding), Err(SignatureRefusal::Cipher));
            }
        }
    }

    #[test]
    fn bad_padding_is_refused() {
        let (key, iv) = ([7; 32], [9; 16]);
        for end in [[0, 0], [1, 2], [17, 17], [2, 3]] {
            let mut block = [5_u8; 16];
            block[14..].copy_from_slice(&end);
            let cipher = cbc::Encryptor::<Aes256>::new(&key.into(), &iv.into())
                .encrypt_padded_vec::<NoPadding>(&block);
            assert!(decrypt(&key, &iv, &cipher, 16).is_err(), "{end:?}");
        }
        assert_eq!(decrypt(&key, &iv, &[], 16), Err(SignatureRefusal::Cipher));
    }
}
