import { defineErrors } from '../../../kernel/index.ts'

export const { CronPatternError } = defineErrors({
  CronPatternError: (pattern: string, why: string) =>
    `the cron pattern ${JSON.stringify(pattern)} ${why}. It has five fields, minute hour day-of-month month day-of-week, or six with the second first`,
})

/** A parsed pattern: the values that each field allows. */
export interface CronPattern {
  readonly text: string
  readonly seconds: readonly number[]
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
  readonly months: ReadonlySet<number>
  readonly days: ReadonlySet<number>
  /** `L`: the last day of the month, whatever its number. */
  readonly lastDay: boolean
  /** 0 is Sunday. */
  readonly weekdays: ReadonlySet<number>
  /** `5L`: the last Friday of the month. */
  readonly lastWeekdays: ReadonlySet<number>
  readonly isAnyDay: boolean
  readonly isAnyWeekday: boolean
  readonly isEveryHour: boolean
}

interface Field {
  readonly name: string
  readonly min: number
  readonly max: number
  readonly names?: readonly string[]
}

const monthNames = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const dayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

const second: Field = { name: 'second', min: 0, max: 59 }
const minute: Field = { name: 'minute', min: 0, max: 59 }
const hour: Field = { name: 'hour', min: 0, max: 23 }
const dayOfMonth: Field = { name: 'day-of-month', min: 1, max: 31 }
const month: Field = { name: 'month', min: 1, max: 12, names: monthNames }
const dayOfWeek: Field = { name: 'day-of-week', min: 0, max: 7, names: dayNames }

const macros: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

/** Longer than any reasonable pattern, yet short enough to be parsed quickly. */
const maxLength = 500
const longestMonth = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/**
 * Parses a pattern.
 *
 * @throws CronPatternError naming the pattern and the field.
 */
export function parsePattern(given: unknown): CronPattern {
  if (typeof given !== 'string') {
    throw CronPatternError(
      String(given),
      'is not a string: cron(pattern, options) declares a job; the plugin of the same name comes from framework/plugins',
    )
  }
  if (given.length > maxLength)
    throw CronPatternError(`${given.slice(0, 40)}…`, `is longer than ${maxLength} characters`)
  const text = given.trim()
  if (text === '') throw CronPatternError(given, 'is empty')
  const spelled = text.startsWith('@') ? macros[text.toLowerCase()] : text
  if (spelled === undefined)
    throw CronPatternError(text, `is not a shorthand; the shorthands are ${Object.keys(macros).join(', ')}`)
  const fields = spelled.split(/\s+/)
  if (fields.length !== 5 && fields.length !== 6)
    throw CronPatternError(text, `has ${fields.length} field${fields.length === 1 ? '' : 's'}`)
  const [sec, min, hr, dom, mon, dow] = (fields.length === 5 ? ['0', ...fields] : fields) as Six
  const read = (field: Field, value: string) => readField(text, field, value)
  const days = lastOf(dom === '?' ? '*' : dom, /^L$/i)
  const weekdays = lastOf(dow === '?' ? '*' : dow, /^([0-7])L$/i)
  const dayValues = days.rest === '' ? [] : read(dayOfMonth, days.rest)
  const weekdayValues = new Set((weekdays.rest === '' ? [] : read(dayOfWeek, weekdays.rest)).map((day) => day % 7))
  const hours = read(hour, hr)
  const pattern: CronPattern = {
    text,
    seconds: read(second, sec),
    minutes: read(minute, min),
    hours,
    months: new Set(read(month, mon)),
    days: new Set(dayValues),
    lastDay: days.last.length > 0,
    weekdays: weekdayValues,
    lastWeekdays: new Set(weekdays.last.map((item) => Number(item[0]) % 7)),
    isAnyDay: dayValues.length === 31,
    isAnyWeekday: weekdayValues.size === 7,
    isEveryHour: hours.length === 24,
  }
  if (neverComes(pattern)) throw CronPatternError(text, 'has a day-of-month that does not exist in any of its months')
  return pattern
}

type Six = [string, string, string, string, string, string]

/** Separates the items that stand for a last day from the others. */
function lastOf(value: string, form: RegExp): { last: string[]; rest: string } {
  const items = value.split(',')
  const last = items.filter((item) => form.test(item))
  return { last, rest: last.length === 0 ? value : items.filter((item) => !form.test(item)).join(',') }
}

function readField(pattern: string, field: Field, value: string): number[] {
  const fail = (item: string, why: string) =>
    CronPatternError(pattern, `has ${JSON.stringify(item)} as ${field.name}: ${why}`)
  const values = new Set<number>()
  for (const item of value.split(',')) {
    const [range = '', step, ...more] = item.split('/')
    if (more.length > 0 || range === '') throw fail(item, 'that is not a number, range or step')
    const [from, to] = rangeOf(range, field, step !== undefined, (why) => fail(item, why))
    const every = step === undefined ? 1 : Number(/^\d{1,3}$/.test(step) ? step : Number.NaN)
    if (!(every >= 1) || every > field.max + 1) throw fail(item, `a step is a number from 1 to ${field.max + 1}`)
    for (let one = from; one <= to; one += every) values.add(one)
  }
  return [...values].sort((a, b) => a - b)
}

function rangeOf(range: string, field: Field, hasStep: boolean, fail: (why: string) => Error): [number, number] {
  if (range === '*') return [field.min, field === dayOfWeek ? 6 : field.max]
  const ends = range.split('-')
  if (ends.length > 2) throw fail('a range needs a start and an end')
  const [from = Number.NaN, to] = ends.map((end) => numberOf(end, field))
  if (ends.some((_, i) => Number.isNaN([from, to][i]))) {
    const names = field.names === undefined ? '' : `, or one of ${field.names.join(' ')}`
    throw fail(`it takes numbers from ${field.min} to ${field.max}${names}`)
  }
  if (to === undefined) return [from, hasStep ? field.max : from]
  // `fri-sun`: Sunday has two numbers, 0 and 7.
  const end = field === dayOfWeek && to === 0 && from > 0 ? 7 : to
  if (from > end) throw fail('the range ends before it starts')
  return [from, end]
}

function numberOf(text: string, field: Field): number {
  if (/^\d{1,2}$/.test(text)) {
    const value = Number(text)
    return value >= field.min && value <= field.max ? value : Number.NaN
  }
  const index = field.names?.indexOf(text.toLowerCase()) ?? -1
  return index === -1 ? Number.NaN : index + field.min
}

function neverComes({ months, days, lastDay, isAnyWeekday, lastWeekdays }: CronPattern): boolean {
  if (lastDay || !isAnyWeekday || lastWeekdays.size > 0) return false
  return [...months].every((one) => [...days].every((day) => day > longestMonth[one - 1]!))
}
