/**
 * @typedef {object} Outcome
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped
 * @property {string} [note] One line for the table at the end.
 * @property {string[]} [missingRuntimes]
 *
 * @typedef {{ passed: number, failed: number, skipped: number }} Totals
 */

/** @returns {Outcome} */
export const passed = (note = '') => ({ passed: 1, failed: 0, skipped: 0, note })
/** @returns {Outcome} */
export const failed = (note = '') => ({ passed: 0, failed: 1, skipped: 0, note })

/** The last line of a run, the one that machines read. @param {Totals} totals */
export function finalLine({ passed, failed, skipped }) {
  const line = `${passed} passed, ${failed} failed`
  return skipped > 0 ? `${line}, ${skipped} skipped` : line
}

/** @param {number} ms */
const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`

/**
 * What the steps of a run come to. Steps run side by side: the output of one is printed whole when it has ended, and not between the lines
 * of a step that shows its own while it runs.
 */
export class Summary {
  #started = performance.now()
  /** @type {{ name: string, ms: number, outcome: Outcome }[]} */
  #rows = []
  #isShowing = false
  /** @type {string[]} */
  #held = []

  /**
   * Runs one step, whatever it throws included.
   *
   * @param {string} name
   * @param {(print: (text: string) => void) => Promise<Outcome>} run
   * @param {{ shows?: boolean }} [options] `shows`: it shows its output while it runs.
   */
  async step(name, run, { shows = false } = {}) {
    this.#say(`\n▶ ${name}`)
    this.#isShowing ||= shows
    const started = performance.now()
    /** @type {string[]} */
    const output = []
    /** @type {Outcome} */
    let outcome
    try {
      outcome = await run((text) => void output.push(text))
    } catch (error) {
      output.push(error instanceof Error ? (error.stack ?? error.message) : String(error))
      outcome = failed(error instanceof Error ? error.message.split('\n')[0] : String(error))
    }
    const ms = performance.now() - started
    this.#rows.push({ name, ms, outcome })
    if (shows) this.#isShowing = false
    const end = `${mark(outcome)} ${name} (${seconds(ms)})${outcome.note ? ` ${outcome.note}` : ''}`
    this.#say([end, ...output].join('\n'))
    return outcome
  }

  /** @param {string} text */
  #say(text) {
    this.#held.push(text)
    if (this.#isShowing) return
    for (const one of this.#held.splice(0)) console.log(one)
  }

  /** @returns {Totals} */
  totals() {
    const totals = { passed: 0, failed: 0, skipped: 0 }
    for (const { outcome } of this.#rows) {
      totals.passed += outcome.passed
      totals.failed += outcome.failed
      totals.skipped += outcome.skipped
    }
    return totals
  }

  /** @param {string[]} order The names of the steps. */
  print(order) {
    const width = Math.max(...this.#rows.map((row) => row.name.length))
    console.log()
    const rows = this.#rows.toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name))
    for (const { name, ms, outcome } of rows) {
      console.log(`${mark(outcome)} ${name.padEnd(width)} ${seconds(ms).padStart(8)}  ${outcome.note ?? ''}`.trimEnd())
    }
    console.log(`  ${'total'.padEnd(width)} ${seconds(performance.now() - this.#started).padStart(8)}\n`)
  }
}

/** @param {Outcome} outcome */
function mark(outcome) {
  if (outcome.failed > 0) return '✗'
  return outcome.skipped > 0 && outcome.passed === 0 ? '-' : '✓'
}
