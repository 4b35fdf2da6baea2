import { measureBoot } from './load/boot.ts'
import { bootReport, loadReport } from './load/report.ts'
import { checkServers, measureLoad } from './load/schedule.ts'
import { type ServerSuite, serverSuites } from './load/suites.ts'
import type { MicroSeries } from './micro/harness.ts'
import { joinSeries, microReport, runMicro } from './micro/measure.ts'
import { type MicroName, microSuites } from './micro/suites.ts'
import { chooseSuites, isMicro, readSettings, type ServerName } from './settings.ts'
import { describeMachine, leaveServerCore } from './support/machine.ts'
import { saveResults } from './support/results.ts'
import { root, type Stage, stageFolder } from './support/stage.ts'

const usage = `npm run bench -- [suite…] [option…]
  --out               writes the part on requests of benchmarks/results.md
  --check             starts and asks everything once and measures nothing`

const settings = readSettings(process.argv.slice(2), usage)

async function micro(name: MicroName, stage: Stage): Promise<string> {
  const { title, reference } = microSuites[name]
  const generations: MicroSeries[][] = []
  for (let i = 0; i < (settings.check ? 1 : settings.load.generations); i++) {
    generations.push(await runMicro(name, stage, settings.micro, settings.load.node))
  }
  return microReport(title, reference, joinSeries(generations))
}

async function servers(name: ServerName, stage: Stage): Promise<string> {
  const { title, kind, exchange, references, subjects: of }: ServerSuite = serverSuites[name]
  const subjects = of(stage)
  const { node } = settings.load
  if (kind === 'boot') {
    return bootReport(title, await measureBoot(subjects, exchange, settings.boots, node), references)
  }
  return loadReport(title, await measureLoad(subjects, exchange, settings.load), references, settings.load)
}

async function check(name: ServerName | MicroName, stage: Stage): Promise<void> {
  if (isMicro(name)) await micro(name, stage)
  else await checkServers(serverSuites[name].subjects(stage), serverSuites[name].exchange, settings.load.node)
  console.log(`ok ${name}`)
}

const suites = chooseSuites(settings.words)
const stage = stageFolder(root, 'this checkout')
if (settings.check) {
  // Two at a time: nothing is measured, and a check is to be quick.
  const queue = suites.values()
  const worker = async () => {
    for (const name of queue) await check(name, stage)
  }
  await Promise.all([worker(), worker()])
} else {
  leaveServerCore()
  const machine = describeMachine(settings.load.node)
  const date = new Date().toISOString().slice(0, 10)
  const parts = [`# Results\n\n${[date, ...machine].map((line) => `- ${line}`).join('\n')}\n`]
  console.log(parts[0])
  for (const name of suites) {
    const report = isMicro(name) ? await micro(name, stage) : await servers(name, stage)
    parts.push(report)
    console.log(report)
  }
  if (settings.out) saveResults(parts.join('\n'))
}
