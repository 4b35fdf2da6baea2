/** Makes every name unique by adding a number to one that is taken. */
export class Names {
  readonly #taken: Set<string>

  constructor(taken: Iterable<string> = []) {
    this.#taken = new Set(taken)
  }

  claim(wanted: string, suffix = ''): string {
    let name = this.#taken.has(wanted) ? wanted + suffix : wanted
    for (let number = 2; this.#taken.has(name); number++) name = `${wanted}${suffix}${number}`
    this.#taken.add(name)
    return name
  }
}
