const mappedHead = /^(?:0{0,4}:){2,5}(?:0{0,4}:)?ffff:/i

/**
 * The network to which an address counts: an IPv4 address itself, even where it is written as IPv6, and the first 64 bits
 * of an IPv6 address. A household has a /64 or more, so limiting single addresses would be as good as no limit.
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const head = mappedHead.exec(address)
  if (head !== null) return ipv4Of(address.slice(head[0].length)) ?? address
  const [left = '', right] = address.split('%')[0]!.split('::')
  const groups = left === '' ? [] : left.split(':')
  if (right !== undefined) {
    const tail = right === '' ? [] : right.split(':')
    // An address may end in the form of an IPv4 address, which stands for two groups.
    const width = tail.length + (right.includes('.') ? 1 : 0)
    while (groups.length + width < 8) groups.push('0')
    groups.push(...tail)
  }
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}

function ipv4Of(tail: string): string | undefined {
  if (tail.includes('.')) return tail
  const [high, low] = tail.split(':').map((group) => Number.parseInt(group, 16))
  if (high === undefined || low === undefined) return undefined
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`
}
