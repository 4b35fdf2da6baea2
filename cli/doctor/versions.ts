type Version = readonly [major: number, minor: number, patch: number]

const form = /^v?(\d+)(?:\.(\d+|[x*]))?(?:\.(\d+|[x*]))?(?:[-+].*)?$/

/** Parses a version: how many numbers are given, and the version with zeros for the others. */
function parse(text: string): { readonly said: number; readonly version: Version } | undefined {
  const numbers = form.exec(text)?.slice(1)
  if (numbers === undefined) return undefined
  const said = numbers.findIndex((one) => one === undefined || /[x*]/.test(one))
  const [major = 0, minor = 0, patch = 0] = numbers.map((one) => Number(one) || 0)
  return { said: said === -1 ? 3 : said, version: [major, minor, patch] }
}

function compare(a: Version, b: Version): number {
  const at = [0, 1, 2].find((one) => a[one] !== b[one])
  return at === undefined ? 0 : a[at]! - b[at]!
}

/** The first version after those that agree in this many numbers. */
function beyond(version: Version, numbers: number): Version {
  if (numbers === 0) return [Number.POSITIVE_INFINITY, 0, 0]
  return [0, 1, 2].map((at) => (at < numbers - 1 ? version[at]! : at === numbers - 1 ? version[at]! + 1 : 0)) as never
}

/** Whether a version fits one comparator: `>=20.19`, `^4.1`, `7.x`. */
function fitsOne(version: Version, comparator: string): boolean | undefined {
  if (/^[x*]?$/.test(comparator)) return true
  const [, operator = '', text = ''] = /^(>=|<=|>|<|=|\^|~)?(.*)$/.exec(comparator)!
  const given = parse(text)
  if (given === undefined) return undefined
  const { said, version: from } = given
  if (operator === '<') return compare(version, from) < 0
  if (operator === '>=') return compare(version, from) >= 0
  if (operator === '>') return compare(version, said === 3 ? from : beyond(from, said)) >= (said === 3 ? 1 : 0)
  if (operator === '<=') return said === 3 ? compare(version, from) <= 0 : compare(version, beyond(from, said)) < 0
  // The first number that is not 0 decides what is a breaking change.
  const kept = from.findIndex((one) => one > 0) + 1
  const same = operator === '^' ? Math.min(kept || said, said) : operator === '~' ? Math.min(2, said) : said
  return compare(version, from) >= 0 && compare(version, beyond(from, same)) < 0
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
    const fits = written.split(/\s+/).map((one) => fitsOne(own.version, one))
    return fits.includes(false) ? false : fits.includes(undefined) ? undefined : true
  })
  return alternatives.includes(true) ? true : alternatives.includes(undefined) ? undefined : false
}
