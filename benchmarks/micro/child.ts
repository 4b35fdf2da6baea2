import { isWanted } from '../support/wanted.ts'
import { Built } from './built.ts'
import { type MicroSettings, measure } from './harness.ts'
import { type MicroName, microSuites } from './suites.ts'

// One suite in a process of its own: types that another suite has shown to the same functions would slow it down.
const [name, folder, given] = process.argv.slice(2) as [MicroName, string, string]
const settings = JSON.parse(given) as MicroSettings
const suite = microSuites[name]
const built = new Built(folder, (server) => isWanted(server, settings.servers), settings.services)
const cases = await suite.cases(built)
const series = await measure(cases, suite, settings)
process.stdout.write(JSON.stringify(series), () => process.exit(0))
