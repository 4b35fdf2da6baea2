import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { measureBoot } from './load/boot.ts'
import { bootReport, loadReport } from './load/report.ts'
import { measureLoad } from './load/schedule.ts'
import { type ServerSuite, serverSuites } from './load/suites.ts'
import type { MicroSeries } from './micro/harness.ts'
import { joinSeries, microReport, runMicro } from './micro/measure.ts'
import { type MicroName, microSuites, servicesOf } from './micro/suites.ts'
import { ServicesOfRun } from './services/servers.ts'
import { chooseSuites, isMicro, isSuiteWord, readSettings, type ServerName } from './settings.ts'
import { describeMachine, leaveServerCore } from './support/machine.ts'
import { adoptFolder, type Stage, stageCommit, stageFolder } from './support/stage.ts'
import { shuffled } from './support/statistics.ts'

const usage = `node --import tsx benchmarks/compare.ts [side…] [suite…] [option…]
A side is a commit, a branch, the folder of a checkout, or a folder that holds a dist. The first side is the
reference; without any, HEAD is compared with this checkout.`

const settings = readSettings(process.argv.slice(2), usage)
const { runtime } = settings.load
const given = settings.words.filter((word) => !isSuiteWord(word))
const sides = given.length === 0 ? ['HEAD', '.'] : given.length === 1 ? [given[0]!, '.'] : given
const suites = chooseSuites(settings.words.filter(isSuiteWord), runtime)

function stageOf(side: string): Stage {
  const folder = resolve(side)
  if (existsSync(join(folder, 'tsconfig.build.json'))) return stageFolder(folder, side)
  return existsSync(join(folder, 'dist/index.js')) ? adoptFolder(folder, side) : stageCommit(side)
}

/** Each generation runs every side once, in a new order; the rounds of one generation are compared in pairs. */
async function micro(name: MicroName, stages: readonly Stage[]): Promise<string> {
  const generations = new Map(stages.map((stage) => [stage, [] as MicroSeries[][]]))
  for (let i = 0; i < settings.load.generations; i++) {
    for (const stage of shuffled(stages)) {
      generations
        .get(stage)!
        .push(await runMicro([name], stage, { ...settings.micro, services, servers: ['framework'] }, runtime))
    }
  }
  const series = [...generations].flatMap(([{ label }, own]) =>
    joinSeries(own)
      .filter((one) => one.name === 'framework')
      .map((one) => ({ ...one, name: label })),
  )
  series.sort((a, b) => a.group.localeCompare(b.group))
  return microReport({ ...microSuites[name], reference: stages[0]!.label }, series)
}

async function servers(name: ServerName, stages: readonly Stage[]): Promise<string> {
  const suite: ServerSuite = serverSuites[name]
  const { title, kind, exchange } = suite
  const own = suite.servers(runtime.kind).framework!
  const subjects = stages.map((stage) => ({ name: stage.label, stage, ...own }))
  const references = [stages[0]!.label]
  if (kind === 'boot') {
    return bootReport(title, await measureBoot(subjects, exchange, settings.boots, runtime), references)
  }
  const series = await measureLoad(subjects, exchange, settings.load)
  return loadReport(title, series, references, settings.load, exchange.connections)
}

const stages = sides.map(stageOf)
leaveServerCore()
const servicesOfRun = new ServicesOfRun()
const services = await servicesOfRun.start(servicesOf(suites))
console.log(
  `# ${sides.join(' · ')}\n\n${describeMachine(runtime, [])
    .map((line) => `- ${line}`)
    .join('\n')}\n`,
)
try {
  for (const name of suites) console.log(isMicro(name) ? await micro(name, stages) : await servers(name, stages))
} finally {
  await servicesOfRun.stop()
}
