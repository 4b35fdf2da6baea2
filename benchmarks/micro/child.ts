import { Built } from './built.ts'
import { type MicroSettings, measure } from './harness.ts'
import { type MicroName, microSuites } from './suites.ts'

// One suite in a process of its own: types that another suite has shown to the same functions would slow it down.
const [name, folder, settings] = process.argv.slice(2) as [MicroName, string, string]
const suite = microSuites[name]
const cases = await suite.cases(new Built(folder))
const series = await measure(cases, suite, JSON.parse(settings) as MicroSettings)
process.stdout.write(JSON.stringify(series), () => process.exit(0))
