//! A map with a stated number of places: what is put in last stays, what was put in first goes.
//!
//! Whatever peers send, the engine's memory is bounded because everything that grows with their traffic is one of
//! these. The one rule it keeps: iteration follows the keys, never chance.

use std::collections::{BTreeMap, VecDeque};

/// A map that forgets its oldest entry when it is full.
#[derive(Debug, Clone)]
pub(crate) struct Bounded<K, V> {
    map: BTreeMap<K, V>,
    order: VecDeque<K>,
    places: usize,
}

impl<K: Ord + Clone, V> Bounded<K, V> {
    pub(crate) fn new(places: usize) -> Self {
        Self { map: BTreeMap::new(), order: VecDeque::new(), places }
    }

    /// Puts a value in and returns what had to go for it.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<(K, V)> {
        if self.map.insert(key.clone(), value).is_none() {
            self.order.push_back(key);
        }
        if self.map.len() <= self.places {
            return None;
        }
        let oldest = self.order.pop_front()?;
        self.map.remove_entry(&oldest)
    }

    /// Puts a key in that is not there yet; whether it was not.
    pub(crate) fn insert_new(&mut self, key: K) -> bool
    where
        V: Default,
    {
        let new = !self.map.contains_key(&key);
        if new {
            self.insert(key, V::default());
        }
        new
    }

    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.map.get(key)
    }

    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.map.get_mut(key)
    }

    /// The value under a key, made if it is not there.
    pub(crate) fn entry(&mut self, key: &K, make: impl FnOnce() -> V) -> &mut V {
        if !self.map.contains_key(key) {
            self.insert(key.clone(), make());
        }
        self.map.get_mut(key).expect("the entry put in last is never the one that goes")
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.map.len()
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.map.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_entry_goes_when_it_is_full() {
        let mut map = Bounded::new(2);
        assert_eq!((map.insert(9, 'a'), map.insert(1, 'b')), (None, None));
        assert_eq!(map.insert(5, 'c'), Some((9, 'a')));
        assert_eq!(map.insert(1, 'd'), None, "a key that is there takes no place");
        assert_eq!(map.iter().collect::<Vec<_>>(), [(&1, &'d'), (&5, &'c')]);
    }
}
