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

export class Summary {
  /** @type {{ name: string, ms: number, outcome: Outcome }[]} */
  #rows = []

  /**
   * Runs one step, whatever it throws included.
   *
   * @param {string} name
   * @param {() => Promise<Outcome>} run
   */
  async step(name, run) {
    console.log(`\n▶ ${name}`)
    const started = performance.now()
    /** @type {Outcome} */
    let outcome
    try {
      outcome = await run()
    } catch (error) {
      console.error(error)
      outcome = failed(error instanceof Error ? error.message.split('\n')[0] : String(error))
    }
    const ms = performance.now() - started
    this.#rows.push({ name, ms, outcome })
    console.log(`${mark(outcome)} ${name} (${seconds(ms)})${outcome.note ? ` ${outcome.note}` : ''}`)
    return outcome
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

  print() {
    const width = Math.max(...this.#rows.map((row) => row.name.length))
    console.log()
    for (const { name, ms, outcome } of this.#rows) {
      console.log(`${mark(outcome)} ${name.padEnd(width)} ${seconds(ms).padStart(8)}  ${outcome.note ?? ''}`.trimEnd())
    }
    console.log(`  ${'total'.padEnd(width)} ${seconds(this.#rows.reduce((sum, row) => sum + row.ms, 0)).padStart(8)}\n`)
  }
}

/** @param {Outcome} outcome */
function mark(outcome) {
  if (outcome.failed > 0) return '✗'
  return outcome.skipped > 0 && outcome.passed === 0 ? '-' : '✓'
}
