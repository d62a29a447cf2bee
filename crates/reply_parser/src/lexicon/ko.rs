//! Korean. 괜찮아요 means yes to some and no to others, and is left out.

use super::LanguagePack;

pub(super) const PACK: LanguagePack = LanguagePack {
    language: "ko",
    strong: &[
        "네",
        "예",
        "승인",
        "승인합니다",
        "동의",
        "동의합니다",
        "실행",
        "진행",
        "진행해",
        "진행하세요",
        "허용",
    ],
    weak: &["오케이", "응", "좋아", "좋아요"],
    cancel: &[
        "아니",
        "아니요",
        "아니오",
        "취소",
        "거부",
        "거절",
        "중지",
        "그만",
        "하지마",
        "하지 마",
        "안돼",
        "안 돼",
        "승인하지 않음",
    ],
    please: &[],
    thanks: &[],
    asks: &["주세요", "부탁", "부탁해", "부탁해요", "부탁합니다", "부탁드립니다"],
    lead: &[],
    behind: &["요"],
    hold: &["잠깐", "잠시만"],
    ack: &["확인", "확인합니다", "확인했습니다", "알겠습니다"],
};
