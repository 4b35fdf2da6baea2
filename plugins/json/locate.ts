const literals = ['true', 'false', 'null']
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/** What may come next in the text. */
type Expected = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | ', or end' | 'end'

/** Reads a JSON text token by token to find its first error, since the messages of the engines differ and repeat the content. */
class Reader {
  readonly #text: string
  readonly #open: string[] = []
  #at = 0
  #expected: Expected = 'value'

  constructor(text: string) {
    this.#text = text
  }

  /** Returns the offset of the first invalid character, or the length of the text if it ends too early. */
  firstError(): number {
    for (;;) {
      this.#skipBlanks()
      if (this.#at >= this.#text.length || !this.#takeToken()) return this.#at
    }
  }

  #skipBlanks(): void {
    for (; ; this.#at++) {
      const code = this.#text.charCodeAt(this.#at)
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return
    }
  }

  #takeToken(): boolean {
    const char = this.#text[this.#at]!
    switch (this.#expected) {
      case 'value or ]':
        return char === ']' ? this.#close() : this.#takeValue(char)
      case 'value':
        return this.#takeValue(char)
      case 'key or }':
      case 'key':
        if (char === '}' && this.#expected === 'key or }') return this.#close()
        return char === '"' && this.#takeString() && this.#expect(':')
      case ':':
        return char === ':' && this.#step('value')
      case ', or end':
        if (char === ',') return this.#step(this.#open.at(-1) === '{' ? 'key' : 'value')
        return char === (this.#open.at(-1) === '{' ? '}' : ']') && this.#close()
      case 'end':
        return false
    }
  }

  #takeValue(char: string): boolean {
    if (char === '{' || char === '[') {
      this.#open.push(char)
      return this.#step(char === '{' ? 'key or }' : 'value or ]')
    }
    return (char === '"' ? this.#takeString() : this.#takeScalar()) && this.#endValue()
  }

  #takeScalar(): boolean {
    const literal = literals.find((one) => this.#text.startsWith(one, this.#at))
    number.lastIndex = this.#at
    const length = literal?.length ?? number.exec(this.#text)?.[0].length ?? 0
    this.#at += length
    return length > 0
  }

  #takeString(): boolean {
    for (let at = this.#at + 1; at < this.#text.length; at++) {
      const code = this.#text.charCodeAt(at)
      if (code === 34) {
        this.#at = at + 1
        return true
      }
      const bad =
        code < 32 || (code === 92 && !/^(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.test(this.#text.slice(at + 1, at + 6)))
      if (bad) {
        this.#at = at
        return false
      }
      if (code === 92) at++
    }
    this.#at = this.#text.length
    return false
  }

  #close(): boolean {
    this.#open.pop()
    this.#at++
    return this.#endValue()
  }

  #endValue(): boolean {
    return this.#expect(this.#open.length === 0 ? 'end' : ', or end')
  }

  #step(expected: Expected): boolean {
    this.#at++
    return this.#expect(expected)
  }

  #expect(expected: Expected): boolean {
    this.#expected = expected
    return true
  }
}

/** Describes where a text stops being JSON, without quoting the text, which may contain values that must not be logged. */
export function placeOfError(text: string): string {
  const offset = new Reader(text).firstError()
  if (offset >= text.length) return 'it ends too early'
  const before = text.slice(0, offset)
  const line = before.split('\n').length
  return `line ${line}, column ${offset - before.lastIndexOf('\n')}`
}
