const claim = /^(\s*)(\w.*\)) \/\/ (?:throws (\w+)|(\{.*\})(?:, [^{}]*)?)$/

/** Calls that end in `// throws SomeError` or in their result, `// {"a":1}`, become checks of that. */
export function withClaims(code: string): string {
  return code
    .split('\n')
    .map((line) => {
      const [, indent, expression, error, value] = claim.exec(line) ?? []
      if (expression === undefined) return line
      if (error !== undefined) return `${indent}claims.throws(() => ${expression}, ${JSON.stringify(error)})`
      return `${indent}claims.gives(${expression}, ${JSON.stringify(value)})`
    })
    .join('\n')
}

/** The functions that these lines call. */
export const claims = {
  throws(run: () => unknown, code: string): void {
    try {
      run()
    } catch (error) {
      if ((error as { code?: unknown }).code === code) return
      throw new Error(`is said to throw ${code} and threw another error`, { cause: error })
    }
    throw new Error(`is said to throw ${code} and threw nothing`)
  },
  gives(value: unknown, text: string): void {
    const real = typeof value === 'string' ? value : JSON.stringify(value)
    if (real !== text) throw new Error(`is said to give ${text} and gave ${real}`)
  },
}
