const base = 36
const highest = 0x10_ffff

/**
 * Decodes a label of punycode, given without its `xn--` and in lower case (RFC 3492 section 6.2); `undefined` for an
 * invalid label.
 */
function decode(label: string): string | undefined {
  const delimiter = label.lastIndexOf('-')
  const points = [...label.slice(0, Math.max(delimiter, 0))].map((char) => char.charCodeAt(0))
  let point = 128
  let at = 0
  let bias = 72
  for (let i = delimiter + 1; i < label.length; ) {
    const before = at
    for (let weight = 1, k = base; ; k += base) {
      const digit = digitAt(label, i++)
      if (digit === undefined) return undefined
      at += digit * weight
      const threshold = k <= bias ? 1 : Math.min(k - bias, 26)
      if (digit < threshold) break
      weight *= base - threshold
      if (at > highest * 64) return undefined
    }
    const count = points.length + 1
    bias = adapted(at - before, count, before === 0)
    point += Math.floor(at / count)
    at %= count
    if (point > highest) return undefined
    points.splice(at++, 0, point)
  }
  return String.fromCodePoint(...points)
}

function digitAt(label: string, at: number): number | undefined {
  const code = label.charCodeAt(at)
  if (code >= 97 && code <= 122) return code - 97
  return code >= 48 && code <= 57 ? code - 22 : undefined
}

function adapted(delta: number, count: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? 700 : 2))
  rest += Math.floor(rest / count)
  let k = 0
  for (; rest > 455; k += base) rest = Math.floor(rest / 35)
  return k + Math.floor((36 * rest) / (rest + 38))
}

/** Not allowed in a name: controls, blanks, code points without a character, a leading mark. Joiners are between letters in some languages. */
const unfit = /(?!\u200c|\u200d)\p{C}|\p{Z}|^\p{M}|^[\u200c\u200d]|[\u200c\u200d]$/u

/**
 * Whether a label that begins with `xn--` is a name in another alphabet, in its one spelling. The URL parser of Node.js accepts any such
 * label since 24; those of earlier versions, Bun and Deno each refuse different ones.
 */
export function isPunycode(label: string): boolean {
  const text = decode(label.slice(4).toLowerCase())
  if (text === undefined || !/[^\0-\x7f]/.test(text)) return false
  return !unfit.test(text) && text.normalize('NFKC').toLowerCase() === text
}
