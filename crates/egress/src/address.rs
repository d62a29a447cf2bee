//! Which addresses belong to the public internet. Everything else is named for what it is.
//!
//! For IPv6 the test is turned round: of the whole space only `2000::/3` is given out, so whatever
//! lies outside is refused, also what is invented after today.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why an address may not be called; `None` if it is public.
pub(crate) fn special_purpose(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(v4) => special_v4(v4),
        IpAddr::V6(v6) => special_v6(v6),
    }
}

/// Network, length of its prefix, what it is. The narrower stands before the wider.
const V4: [(Ipv4Addr, u32, &str); 19] = [
    (Ipv4Addr::UNSPECIFIED, 32, "the unspecified address"),
    (Ipv4Addr::new(0, 0, 0, 0), 8, "an address of \"this network\""),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "a private address"),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "an address behind a carrier's NAT"),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "a loopback address"),
    // Where clouds keep the machine's credentials; named by itself because people look for it.
    (Ipv4Addr::new(169, 254, 169, 254), 32, "a cloud's metadata service"),
    (Ipv4Addr::new(169, 254, 0, 0), 16, "a link-local address"),
    // Public by number, but inside Azure it is the host that manages the machine.
    (Ipv4Addr::new(168, 63, 129, 16), 32, "a cloud's metadata service"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "a private address"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "an address set aside for protocols"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "a documentation address"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "a 6to4 relay"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "a private address"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "a benchmarking address"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "a documentation address"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "a documentation address"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "a multicast address"),
    (Ipv4Addr::BROADCAST, 32, "the broadcast address"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "a reserved address"),
];

const V6: [(Ipv6Addr, u32, &str); 14] = [
    (Ipv6Addr::UNSPECIFIED, 128, "the unspecified address"),
    (Ipv6Addr::LOCALHOST, 128, "a loopback address"),
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0, 0, 0), 96, "an IPv4-compatible address"),
    // It says not where in it the IPv4 address stands.
    (Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0), 48, "a local NAT64 address"),
    (Ipv6Addr::new(0x100, 0, 0, 0, 0, 0, 0, 0), 64, "a discard address"),
    (Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 0), 48, "a benchmarking address"),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, "a documentation address"),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, "an address set aside for protocols"),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, "a documentation address"),
    (Ipv6Addr::new(0x5f00, 0, 0, 0, 0, 0, 0, 0), 16, "a segment routing address"),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, "a unique local address"),
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10, "a link-local address"),
    (Ipv6Addr::new(0xfec0, 0, 0, 0, 0, 0, 0, 0), 10, "a site-local address"),
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8, "a multicast address"),
];

fn special_v4(address: Ipv4Addr) -> Option<&'static str> {
    let inside = |network: Ipv4Addr, prefix: u32| {
        (address.to_bits() ^ network.to_bits()) >> (32 - prefix) == 0
    };
    V4.iter().find(|(network, prefix, _)| inside(*network, *prefix)).map(|(_, _, what)| *what)
}

fn special_v6(address: Ipv6Addr) -> Option<&'static str> {
    let carried = embedded_addresses(address);
    // mutant: callback-into-our-network
    if let Some(what) = carried.iter().flatten().find_map(|inner| special_v4(*inner)) {
        return Some(what);
    }
    // A public IPv4 address in IPv6 clothes is what it carries: in a network without IPv4 every
    // old receiver looks like that.
    if carried.iter().any(Option::is_some) {
        return None;
    }
    let inside = |network: Ipv6Addr, prefix: u32| {
        (address.to_bits() ^ network.to_bits()) >> (128 - prefix) == 0
    };
    let known = V6.iter().find(|(network, prefix, _)| inside(*network, *prefix));
    if let Some((_, _, what)) = known {
        return Some(what);
    }
    if !inside(Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3) {
        return Some("an address that is not given out");
    }
    isatap_address(address).and_then(special_v4)
}

/// The IPv4 address of a host that is reached through a tunnel inside any IPv6 network. Unlike the
/// others it says nothing good about the network, so it can only add a reason to refuse.
fn isatap_address(address: Ipv6Addr) -> Option<Ipv4Addr> {
    match address.segments() {
        [.., 0x0000 | 0x0200, 0x5efe, _, _] => Some(low_32(address, 0)),
        _ => None,
    }
}

fn low_32(address: Ipv6Addr, shift: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits((address.to_bits() >> shift) as u32)
}

/// The IPv4 addresses that packets to this address may end up at.
fn embedded_addresses(address: Ipv6Addr) -> [Option<Ipv4Addr>; 2] {
    let at = |shift: u32| low_32(address, shift);
    match address.segments() {
        // Mapped.
        [0, 0, 0, 0, 0, 0xffff, ..] => [Some(at(0)), None],
        // Translated (RFC 2765), and NAT64.
        [0, 0, 0, 0, 0xffff, 0, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => [Some(at(0)), None],
        // 6to4.
        [0x2002, ..] => [Some(at(80)), None],
        // Teredo: the server, and the client with its bits turned over.
        [0x2001, 0, ..] => [Some(at(64)), Some(Ipv4Addr::from_bits(!at(0).to_bits()))],
        _ => [None, None],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(what: &str, addresses: &[&str]) {
        for address in addresses {
            let told = special_purpose(address.parse().unwrap()).unwrap_or("public");
            assert_eq!(told, what, "{address}");
        }
    }

    #[test]
    fn every_class_is_known_by_its_first_and_last_address() {
        check("the unspecified address", &["0.0.0.0", "::"]);
        check("an address of \"this network\"", &["0.0.0.1", "0.255.255.255"]);
        check("a private address", &["10.0.0.0", "10.255.255.255"]);
        check("a private address", &["172.16.0.0", "172.31.255.255"]);
        check("a private address", &["192.168.0.0", "192.168.255.255"]);
        check("an address behind a carrier's NAT", &["100.64.0.0", "100.127.255.255"]);
        check("an address behind a carrier's NAT", &["100.100.100.200"]);
        check("a loopback address", &["127.0.0.0", "127.0.0.1", "127.255.255.255", "::1"]);
        check("a link-local address", &["169.254.0.0", "169.254.255.255", "169.254.170.2"]);
        check("a link-local address", &["fe80::", "fe80::1", "febf:ffff::ffff"]);
        check("a cloud's metadata service", &["169.254.169.254", "168.63.129.16"]);
        check("an address set aside for protocols", &["192.0.0.0", "192.0.0.255", "192.0.0.192"]);
        check(
            "an address set aside for protocols",
            &["2001:10::1", "2001:20::1", "2001:1ff:ffff::"],
        );
        check("a documentation address", &["192.0.2.0", "192.0.2.255", "198.51.100.0"]);
        check("a documentation address", &["198.51.100.255", "203.0.113.0", "203.0.113.255"]);
        check(
            "a documentation address",
            &["2001:db8::", "2001:db8:ffff::1", "3fff::", "3fff:fff::1"],
        );
        check("a 6to4 relay", &["192.88.99.0", "192.88.99.255"]);
        check("a benchmarking address", &["198.18.0.0", "198.19.255.255", "2001:2::1"]);
        check("a multicast address", &["224.0.0.0", "239.255.255.255", "ff00::", "ff02::1"]);
        check("a reserved address", &["240.0.0.0", "255.255.255.254"]);
        check("the broadcast address", &["255.255.255.255"]);
        check("an IPv4-compatible address", &["::2", "::7f00:1", "::8.8.8.8"]);
        check("a local NAT64 address", &["64:ff9b:1::", "64:ff9b:1:ffff::808:808"]);
        check("a discard address", &["100::", "100::ffff:ffff:ffff:ffff"]);
        check("a segment routing address", &["5f00::1"]);
        check("a unique local address", &["fc00::", "fd00:ec2::254", "fdff:ffff::1"]);
        check("a site-local address", &["fec0::", "feff:ffff::1"]);
        check("an address that is not given out", &["200::1", "1fff:ffff::", "4000::", "e000::1"]);
    }

    #[test]
    fn the_neighbours_of_every_class_are_public() {
        check("public", &["1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0"]);
        check("public", &["126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0"]);
        check("public", &["168.63.129.15", "168.63.129.17", "172.15.255.255", "172.32.0.0"]);
        check("public", &["191.255.255.255", "192.0.1.0", "192.0.1.255", "192.0.3.0"]);
        check("public", &["192.88.98.255", "192.88.100.0", "192.167.255.255", "192.169.0.0"]);
        check("public", &["198.17.255.255", "198.20.0.0", "198.51.99.255", "198.51.101.0"]);
        check("public", &["203.0.112.255", "203.0.114.0", "223.255.255.255", "8.8.8.8", "1.1.1.1"]);
        check("public", &["2001:200::", "2001:db7:ffff::", "2001:db9::", "2003::", "3ffe:ffff::"]);
        check("public", &["3fff:1000::", "2000::", "2001:4860:4860::8888", "2606:4700:4700::1111"]);
    }

    #[test]
    fn an_address_is_what_it_carries() {
        // Mapped, translated, NAT64, 6to4, Teredo (client, then server), ISATAP.
        check(
            "a loopback address",
            &["::ffff:127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::127.0.0.1"],
        );
        check("a loopback address", &["2002:7f00:1::", "2002:7f00:1::808:808"]);
        check("a loopback address", &["2001:0:808:808::80ff:fffe", "2001:0:7f00:1::f7f7:f7f7"]);
        check(
            "a loopback address",
            &["2606:4700::5efe:127.0.0.1", "2606:4700::200:5efe:127.0.0.1"],
        );
        check("a private address", &["::ffff:10.0.0.1", "64:ff9b::10.0.0.1", "2002:a00:1::1"]);
        check("a private address", &["2001:0:808:808::f5ff:fffe", "2606:4700::5efe:192.168.1.1"]);
        check("a cloud's metadata service", &["::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe"]);
        check("a cloud's metadata service", &["2002:a9fe:a9fe::", "2001:0:808:808::5601:5601"]);
        check("the unspecified address", &["::ffff:0.0.0.0", "64:ff9b::"]);
        check("the broadcast address", &["::ffff:255.255.255.255", "2002:ffff:ffff::"]);
        check("public", &["::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1"]);
        check("public", &["2001:0:808:808::f7f7:f7f7", "2606:4700::5efe:8.8.8.8"]);
    }

    #[test]
    fn a_forbidden_network_cannot_be_entered_in_isatap_clothes() {
        check("a link-local address", &["fe80::5efe:8.8.8.8"]);
        check("a unique local address", &["fd00::200:5efe:8.8.8.8"]);
        check("a documentation address", &["2001:db8::5efe:8.8.8.8"]);
    }
}
