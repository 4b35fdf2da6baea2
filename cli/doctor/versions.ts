const form = /^v?(\d+)(?:\.(\d+|[x*]))?(?:\.(\d+|[x*]))?(?:[-+].*)?$/

/** Three numbers as a string that compares as they do. */
const ordered = (numbers: readonly number[]) => numbers.map((one) => String(one).padStart(16, '0')).join('.')

/** Parses a version: how many numbers are given, and the version with zeros for the others. */
function parse(text: string) {
  const numbers = form.exec(text)?.slice(1)
  if (numbers === undefined) return undefined
  const end = numbers.findIndex((one) => one === undefined || /[x*]/.test(one))
  const version = numbers.map((one) => Number(one) || 0)
  return {
    said: end === -1 ? 3 : end,
    version,
    from: ordered(version),
    /** The first version after those that agree in this many numbers. */
    beyond: (same: number) => ordered(version.map((one, at) => (at < same - 1 ? one : at === same - 1 ? one + 1 : 0))),
  }
}

/** Whether a version fits one comparator: `>=20.19`, `^4.1`, `7.x`. */
function fitsOne(own: string, comparator: string): boolean | undefined {
  if (/^[x*]?$/.test(comparator)) return true
  const [, operator = '', text = ''] = /^(>=|<=|>|<|=|\^|~)?(.*)$/.exec(comparator)!
  const given = parse(text)
  if (given === undefined) return undefined
  const { said, version, from, beyond } = given
  if (operator === '<') return own < from
  if (operator === '>=') return own >= from
  if (operator === '>') return own >= beyond(said)
  if (operator === '<=') return own < beyond(said)
  // The first number that is not 0 decides what is a breaking change.
  const kept = version.findIndex((one) => one > 0) + 1
  const same = operator === '^' ? Math.min(kept || said, said) : operator === '~' ? Math.min(2, said) : said
  return own >= from && own < beyond(same)
}

/** Whether a version is in an npm range; `undefined` for a range that this parser does not support. */
export function isIn(version: string, range: string): boolean | undefined {
  const own = parse(version)
  if (own === undefined) return undefined
  const alternatives = range.split('||').map((alternative) => {
    const written = alternative
      .trim()
      .replace(/^(\S+)\s+-\s+(\S+)$/, '>=$1 <=$2')
      .replace(/(>=|<=|>|<|=|\^|~)\s+/g, '$1')
    const fits = written.split(/\s+/).map((one) => fitsOne(own.from, one))
    return fits.includes(false) ? false : fits.includes(undefined) ? undefined : true
  })
  return alternatives.includes(true) ? true : alternatives.includes(undefined) ? undefined : false
}
