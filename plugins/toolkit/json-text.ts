const kindOf = (value: unknown) =>
  typeof value === 'object'
    ? 'an object whose toJSON returns undefined'
    : value === undefined
      ? 'undefined'
      : `a ${typeof value}`

/** A value as JSON; `fail` makes the error for a value that JSON cannot represent, which would otherwise be lost. */
export function jsonText(value: unknown, fail: (why: string) => Error): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n')[0] : String(error)
    throw Object.assign(fail(`cannot be written as JSON: ${why}`), { cause: error })
  }
  if (text === undefined) {
    throw fail(`is ${kindOf(value)}, which JSON cannot represent. Use null or a plain object`)
  }
  return text
}
