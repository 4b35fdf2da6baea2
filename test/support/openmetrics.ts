/** A sample of OpenMetrics text as it was read. */
export interface ReadSample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface ReadFamily {
  readonly name: string
  readonly type: string
  readonly unit: string | undefined
  readonly help: string | undefined
  readonly samples: readonly ReadSample[]
}

/** What may follow the name of a family in its samples. */
const suffixes: Readonly<Record<string, readonly string[]>> = {
  counter: ['_total', '_created'],
  gauge: [''],
  histogram: ['_bucket', '_count', '_sum', '_created'],
  summary: ['', '_count', '_sum', '_created'],
  unknown: [''],
  info: ['_info'],
}

const number = /^(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|[+-]Inf|NaN)$/
const numberOf = (text: string) => (/Inf$/.test(text) ? Number(`${text}inity`) : Number(text))
const sampleLine = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/s
const label = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"(,|$)/
const escapes: Readonly<Record<string, string>> = { '\\\\': '\\', '\\n': '\n', '\\"': '"' }
const unescaped = (text: string) => text.replace(/\\[\\n"]/g, (one) => escapes[one]!)

/**
 * Reads text of OpenMetrics 1.0, and throws for everything that the specification forbids, even where scrapers tolerate it. Exemplars
 * and timestamps are not read: they are never written.
 */
export function readOpenMetrics(text: string): ReadonlyMap<string, ReadFamily> {
  if (!text.endsWith('# EOF\n')) throw new Error('the text does not end with "# EOF" and a newline')
  if (/\p{Surrogate}/u.test(text)) throw new Error('the text has half a character: UTF-8 has no such thing')
  const families = new Map<string, ReadFamily & { samples: ReadSample[]; said: Set<string> }>()
  const lines = text.slice(0, -'# EOF\n'.length).split('\n').slice(0, -1)
  let family: (ReadFamily & { samples: ReadSample[]; said: Set<string> }) | undefined
  for (const [at, line] of lines.entries()) {
    const fail = (why: string): never => {
      throw new Error(`line ${at + 1}: ${why}: ${line}`)
    }
    const metadata = /^# (TYPE|UNIT|HELP) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/s.exec(line)
    if (metadata !== null) {
      const [, kind = '', name = '', value = ''] = metadata
      if (family?.name !== name) {
        if (families.has(name)) fail('the family comes a second time')
        family = { name, type: 'unknown', unit: undefined, help: undefined, samples: [], said: new Set() }
        families.set(name, family)
      }
      if (family.said.has(kind)) fail(`${kind} comes a second time`)
      if (family.samples.length > 0) fail(`${kind} comes after samples`)
      family.said.add(kind)
      if (kind === 'TYPE' && suffixes[value] === undefined) fail('no such type')
      if (kind === 'UNIT' && !name.endsWith(`_${value}`)) fail('the name does not end with the unit')
      if (kind === 'HELP' && /\\(?![\\n"])/.test(value.replace(/\\\\/g, ''))) fail('a backslash that escapes nothing')
      Object.assign(family, { [kind.toLowerCase()]: kind === 'HELP' ? unescaped(value) : value })
      continue
    }
    const [, name = '', inBraces, value = ''] = sampleLine.exec(line) ?? fail('neither metadata nor a sample')
    if (!number.test(value)) fail('not a number')
    const labels: Record<string, string> = {}
    for (let rest = inBraces ?? ''; rest !== ''; ) {
      const [whole = '', key = '', content = '', comma] = label.exec(rest) ?? fail('labels that cannot be read')
      if (Object.hasOwn(labels, key)) fail('a label comes a second time')
      labels[key] = unescaped(content)
      rest = rest.slice(whole.length)
      if (comma === ',' && rest === '') fail('a comma after the last label')
    }
    const ends = suffixes[family?.type ?? '']?.map((suffix) => family!.name + suffix)
    if (!ends?.includes(name)) fail('a sample that is not one of the family before it')
    family!.samples.push({ name, labels, value: numberOf(value) })
  }
  const taken = new Map<string, string>()
  for (const { name, type } of families.values())
    for (const suffix of new Set(['', ...suffixes[type]!])) {
      const by = taken.get(name + suffix)
      if (by !== undefined) throw new Error(`${name + suffix} is of ${by} and of ${name}`)
      taken.set(name + suffix, name)
    }
  for (const one of families.values()) checkFamily(one)
  return families
}

const keyOf = (labels: ReadSample['labels'], without?: string) =>
  JSON.stringify(
    Object.entries(labels)
      .filter(([name]) => name !== without)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )

function checkFamily({ name, type, samples }: ReadFamily): void {
  const fail = (why: string, labels: string): never => {
    throw new Error(`${name}${labels}: ${why}`)
  }
  const seen = new Set<string>()
  for (const sample of samples) {
    const key = sample.name + keyOf(sample.labels)
    if (seen.has(key)) fail('the series comes a second time', key)
    seen.add(key)
    if (type === 'counter' && !(sample.value >= 0)) fail('a counter below 0', key)
    if ('le' in sample.labels !== sample.name.endsWith('_bucket')) fail('only a bucket has the label le', key)
  }
  if (type !== 'histogram' && type !== 'summary') return
  const points = new Map<string, ReadSample[]>()
  for (const sample of samples) {
    const key = keyOf(sample.labels, 'le')
    points.set(key, [...(points.get(key) ?? []), sample])
  }
  // Those of one point are adjacent.
  if ([...points.values()].flat().some((sample, at) => sample !== samples[at])) fail('points are mixed', '')
  for (const [key, point] of points) {
    const of = (suffix: string) => point.find((sample) => sample.name === name + suffix)?.value
    const [count, sum] = [of('_count'), of('_sum')]
    if ((count === undefined) !== (sum === undefined)) fail('count and sum come together', key)
    if (sum !== undefined && !(sum >= 0)) fail('a sum below 0', key)
    if (count !== undefined && !(Number.isInteger(count) && count >= 0)) fail('an invalid count', key)
    if (type === 'summary') continue
    const buckets = point.filter((sample) => sample.name === `${name}_bucket`)
    const bounds = buckets.map(({ labels }) => labels.le!)
    if (bounds.some((bound) => !number.test(bound) || /^-?\d+$/.test(bound))) fail('a bound that is not a float', key)
    if (bounds.at(-1) !== '+Inf') fail('the last bucket is not +Inf', key)
    if (bounds.some((bound, i) => i > 0 && !(numberOf(bound) > numberOf(bounds[i - 1]!)))) fail('bounds fall', key)
    if (buckets.some(({ value }, i) => i > 0 && value < buckets[i - 1]!.value)) fail('buckets fall', key)
    if (count !== undefined && count !== buckets.at(-1)!.value) fail('the count is not that of the last bucket', key)
    if (sum !== undefined && numberOf(bounds[0]!) < 0) fail('a sum beside buckets below 0', key)
  }
}
