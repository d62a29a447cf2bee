//! Addresses that are named together.

use std::net::IpAddr;

/// Addresses that share their first bits; one address is a network of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

impl Network {
    pub fn parse(text: &str) -> Option<Network> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let bits: u8 = if address.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            Some(prefix) => prefix.parse().ok().filter(|prefix| *prefix <= bits)?,
            None => bits,
        };
        // IPv4 in the clothes of IPv6 is IPv4, as callers are; what is wider than all of that is neither.
        match address.to_canonical() {
            plain @ IpAddr::V4(_) if bits == 128 => {
                Some(Network { address: plain, prefix: prefix.checked_sub(96)? })
            }
            _ => Some(Network { address, prefix }),
        }
    }

    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// How many of the first bits count.
    pub fn prefix(&self) -> u8 {
        self.prefix
    }

    pub fn contains(&self, address: IpAddr) -> bool {
        // An IPv4 caller on an IPv6 socket is still that IPv4 caller.
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let shift = 32 - u32::from(self.prefix);
                own.to_bits().checked_shr(shift) == other.to_bits().checked_shr(shift)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let shift = 128 - u32::from(self.prefix);
                own.to_bits().checked_shr(shift) == other.to_bits().checked_shr(shift)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_hold_their_addresses() {
        for (network, address, inside) in [
            ("10.0.0.0/8", "10.255.1.2", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("10.0.0.7", "10.0.0.7", true),
            ("10.0.0.7", "10.0.0.8", false),
            ("0.0.0.0/0", "203.0.113.9", true),
            ("10.0.0.0/8", "::ffff:10.1.1.1", true),
            ("::ffff:203.0.113.0/120", "203.0.113.7", true),
            ("::ffff:203.0.113.0/120", "::ffff:203.0.113.7", true),
            ("::ffff:203.0.113.0/120", "203.0.114.7", false),
            ("::ffff:203.0.113.7", "203.0.113.7", true),
            ("::ffff:0.0.0.0/96", "203.0.113.7", true),
            ("::1", "::1", true),
            ("fd00::/8", "fd12::1", true),
            ("fd00::/8", "fe80::1", false),
            ("::/0", "10.0.0.1", false),
        ] {
            let parsed = Network::parse(network).expect("a network");
            assert_eq!(
                parsed.contains(address.parse().expect("an address")),
                inside,
                "{network} {address}"
            );
        }
        for bad in [
            "",
            "::ffff:10.0.0.0/95",
            "10.0.0.0/33",
            "10.0.0",
            "::/129",
            "localhost",
            "10.0.0.0/-1",
        ] {
            assert_eq!(Network::parse(bad), None, "{bad}");
        }
    }
}
