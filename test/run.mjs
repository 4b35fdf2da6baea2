import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { checkCleanInstall } from './support/run/clean-install.mjs'
import { stopAll, tool, tsc } from './support/run/process.mjs'
import { provideRuntimes } from './support/run/runtimes.mjs'
import { makeScratch } from './support/run/scratch.mjs'
import { inTurns, parseArguments, usage } from './support/run/selection.mjs'
import { provideServices } from './support/run/services.mjs'
import { hasSite, provideSite } from './support/run/site.mjs'
import { finalLine, Summary } from './support/run/summary.mjs'
import { biome, runOldest, runVitest } from './support/run/tools.mjs'

/** Four times what a run takes on two cores, so that the final line is printed even when something hangs. */
const deadline = Date.now() + 45 * 60_000

/** @type {import('./support/run/selection.mjs').Selection} */
let selection
try {
  selection = parseArguments(process.argv.slice(2))
} catch (error) {
  console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`)
  process.exit(2)
}
if (selection.help) {
  console.log(usage)
  process.exit(0)
}

// Compilers and esbuild, which are Go, collect garbage less often: they use an eighth less processor time, and hardly more memory.
process.env.GOGC ??= '400'

const root = join(import.meta.dirname, '..')
const scratch = makeScratch()
process.env.TMPDIR = scratch
const summary = new Summary()

for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
  process.once(signal, () => {
    stopAll()
    rmSync(scratch, { recursive: true, force: true })
    console.log(`\nstopped by ${signal}`)
    console.log(finalLine({ ...summary.totals(), failed: summary.totals().failed + 1 }))
    process.exit(1)
  })
}

/**
 * @param {string} name
 * @param {import('./support/run/process.mjs').StepContext} context
 * @returns {Promise<import('./support/run/summary.mjs').Outcome>}
 */
async function runStep(name, context) {
  switch (name) {
    case 'runtimes':
      return provideRuntimes(context, selection)
    case 'services':
      return provideServices(context)
    case 'build':
      // The first build is checked, as that of a newcomer's first command is: there is no `dist` whose types it could find.
      return tool(context, '../build.mjs', [
        '--if-changed',
        ...(selection.steps.includes('types') && existsSync(join(root, 'dist')) ? ['--unchecked'] : []),
      ])
    case 'types':
      return tsc(context, hasSite(root) ? 'tsconfig.step.json' : 'tsconfig.json')
    case 'lint':
      return biome(context)
    case 'install':
      return checkCleanInstall(context)
    case 'site':
      return provideSite(context)
    case 'oldest':
      return runOldest(context, selection)
    case 'tests':
      return runVitest(context, selection)
    default:
      throw new Error(`There is no step "${name}".`)
  }
}

/** @type {string[]} */
let missingRuntimes = []
for (const turn of inTurns(selection.steps, selection.long)) {
  const outcomes = await Promise.all(
    turn.map((name) =>
      summary.step(name, (print) => runStep(name, { root, scratch, deadline, missingRuntimes, print }), {
        shows: name === 'tests',
      }),
    ),
  )
  missingRuntimes = outcomes.flatMap((outcome) => outcome.missingRuntimes ?? [])
}

rmSync(scratch, { recursive: true, force: true })
summary.print(selection.steps)
const totals = summary.totals()
console.log(finalLine(totals))
process.exitCode = totals.failed > 0 || totals.passed === 0 ? 1 : 0
