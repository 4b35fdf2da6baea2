import { goals } from './goals.ts'
import { measureBoot } from './load/boot.ts'
import { measureMemory } from './load/memory.ts'
import { bootReport, loadReport, memoryReport, socketReport, workersReport } from './load/report.ts'
import { checkServers, measureLoad } from './load/schedule.ts'
import { isPeer, packagesOf } from './load/servers.ts'
import { checkSockets, measureSockets } from './load/sockets.ts'
import { type ServerSuite, serverSuites } from './load/suites.ts'
import { measureWorkers } from './load/workers.ts'
import type { MicroSeries } from './micro/harness.ts'
import { joinSeries, microReport, runMicro } from './micro/measure.ts'
import { type MicroName, microSuites, servicesOf } from './micro/suites.ts'
import { type Services, ServicesOfRun } from './services/servers.ts'
import { chooseSuites, isMicro, readSettings, type ServerName, type SuiteName } from './settings.ts'
import { isInstalled, provide } from './support/install.ts'
import { describeMachine, leaveServerCore } from './support/machine.ts'
import { drawGrowth } from './support/picture.ts'
import { mergeResults } from './support/results.ts'
import { peersFolder, root, type Stage, stageFolder } from './support/stage.ts'
import { goalsIn, summary } from './support/summary.ts'
import { isWanted } from './support/wanted.ts'

const usage = `npm run bench -- [suite…] [option…]
  --servers <names>   measures these servers of a suite alone: framework,raw,fastify
  --out               writes what is measured to the part of the runtime in benchmarks/results.md
  --check             starts and asks everything once and measures nothing; peers when they are installed`

const settings = readSettings(process.argv.slice(2), usage)
const { runtime } = settings.load

const allServersOf = (name: ServerName) => (serverSuites[name] as ServerSuite).servers(runtime.kind)

/** The requested servers of a suite. A check installs nothing, so it leaves out missing ones. */
const serversOf = (name: ServerName) =>
  Object.entries(allServersOf(name)).filter(
    ([server, file]) =>
      isWanted(server, settings.servers) && (!settings.check || isInstalled(peersFolder) || !isPeer(file)),
  )

const subjectsOf = (name: ServerName, stage: Stage) =>
  serversOf(name).map(([server, file]) => ({ name: server, stage, ...file }))

const servicesOfRun = new ServicesOfRun()
let services: Services = {}

async function micro(name: MicroName, stage: Stage): Promise<string> {
  const generations: MicroSeries[][] = []
  for (let i = 0; i < settings.load.generations; i++) {
    generations.push(await runMicro([name], stage, { ...settings.micro, services }, runtime))
  }
  return microReport(microSuites[name], joinSeries(generations))
}

async function servers(name: ServerName, stage: Stage): Promise<string> {
  const { title, kind, exchange, references }: ServerSuite = serverSuites[name]
  const subjects = subjectsOf(name, stage)
  if (kind === 'boot') {
    return bootReport(title, await measureBoot(subjects, exchange, settings.boots, runtime), references)
  }
  if (kind === 'memory') {
    return memoryReport(title, await measureMemory(subjects, exchange, settings.load.generations, runtime), references)
  }
  if (kind === 'sockets') {
    return socketReport(title, await measureSockets(subjects, exchange, settings.load), references, settings.load)
  }
  if (kind === 'workers') {
    return workersReport(title, await measureWorkers(subjects, exchange, settings.load), references, settings.load)
  }
  const series = await measureLoad(subjects, exchange, settings.load)
  return loadReport(title, series, references, settings.load, exchange.connections)
}

async function check(name: ServerName, stage: Stage): Promise<void> {
  const { kind, exchange }: ServerSuite = serverSuites[name]
  const check = kind === 'sockets' ? checkSockets : checkServers
  await check(subjectsOf(name, stage), exchange, runtime)
  console.log(`ok ${name}`)
}

/** Checks all of them in one process: most of a check's time goes into starting up. */
async function checkMicro(names: readonly MicroName[], stage: Stage): Promise<void> {
  if (names.length > 0) await runMicro(names, stage, settings.micro, runtime)
  for (const name of names) console.log(`ok ${name}`)
}

/** Estimates how long a run takes: for a server, its start, warm-up and slices; for a suite in process, ten seconds. */
function minutesOf(suites: readonly SuiteName[]): number {
  const { generations, rounds, seconds } = settings.load
  const secondsOf = (name: SuiteName) => {
    if (isMicro(name)) return generations * 10
    const { length } = serversOf(name)
    if (serverSuites[name].kind === 'boot') return length * settings.boots * 0.5
    if (serverSuites[name].kind === 'sockets') return generations * length * (12 + rounds * seconds)
    if (serverSuites[name].kind === 'memory') return length * generations * 20
    return generations * length * (0.7 + (rounds + 1) * (seconds + 0.15))
  }
  return Math.ceil(suites.reduce((sum, name) => sum + secondsOf(name), 0) / 60)
}

const chosen = chooseSuites(settings.words, runtime)
const known = chosen.flatMap((name) => (isMicro(name) ? [] : Object.keys(allServersOf(name))))
for (const name of settings.servers ?? []) {
  if (known.some((server) => isWanted(server, [name]))) continue
  throw new Error(`--servers: there is no "${name}" in these suites, but ${[...new Set(known)].join(', ')}.`)
}
// One that has none of the servers would be an empty table.
const suites = chosen.filter(
  (name) => isMicro(name) || Object.keys(allServersOf(name)).some((server) => isWanted(server, settings.servers)),
)

if (settings.check) {
  const stage = stageFolder(root, 'this checkout')
  // Two at a time: nothing is measured, and a check must be quick.
  const queue = suites.filter((name) => !isMicro(name)).values()
  const worker = async () => {
    for (const name of queue) await check(name as ServerName, stage)
  }
  await Promise.all([checkMicro(suites.filter(isMicro), stage).then(worker), worker()])
} else {
  console.error(
    `${suites.length === 1 ? '1 suite' : `${suites.length} suites`} on ${runtime.title}, about ${minutesOf(suites)} min; name suites or --servers for less`,
  )
  if (suites.some((name) => (isMicro(name) ? name === 'inject' : serversOf(name).some(([, file]) => isPeer(file)))))
    provide(peersFolder, '80 MB')
  const stage = stageFolder(root, 'this checkout')
  leaveServerCore()
  const machine = describeMachine(runtime, packagesOf(runtime.kind))
  const parts = [`# Requests on ${runtime.title}\n\n${machine.map((line) => `- ${line}`).join('\n')}\n`]
  console.log(parts[0])
  try {
    services = await servicesOfRun.start(servicesOf(suites))
    for (const name of suites) {
      const report = isMicro(name) ? await micro(name, stage) : await servers(name, stage)
      parts.push(report)
      console.log(report)
    }
  } finally {
    await servicesOfRun.stop()
  }
  const own = goals[runtime.title] ?? goals[runtime.title.replace(/ .*/, '')] ?? []
  const summaryOf = (part: string) => summary(own, part)
  const measured = parts.join('\n')
  console.log(summary(goalsIn(measured, own), measured))
  if (settings.out) mergeResults(measured, summaryOf)
  // The version of Node.js that the documentation begins with.
  if (settings.out && runtime.title === 'Node 24') drawGrowth(measured)
}
