import { isWanted } from '../support/wanted.ts'
import { Built } from './built.ts'
import { type MicroSeries, type MicroSettings, measure } from './harness.ts'
import { type MicroName, microSuites } from './suites.ts'

// Runs one suite in a process of its own: the types that another suite passes to the same functions would slow it down.
// Only a check runs several.
const [names, folder, given] = process.argv.slice(2) as [string, string, string]
const settings = JSON.parse(given) as MicroSettings
const built = new Built(folder, (server) => isWanted(server, settings.servers), settings.services)
const series: MicroSeries[] = []
for (const name of names.split(',') as MicroName[]) {
  const suite = microSuites[name]
  series.push(...(await measure(await suite.cases(built), suite, settings)))
}
process.stdout.write(JSON.stringify(series), () => process.exit(0))
