/** Caches each result as long as the returned function lives. For values that many rows of one transaction share. */
export function memoize<Key extends readonly (string | number)[], Value>(compute: (...key: Key) => Value): (...key: Key) => Value {
  const known = new Map<string, Value>()
  return (...key) => {
    const name = key.join('\n')
    if (!known.has(name)) known.set(name, compute(...key))
    return known.get(name)!
  }
}
