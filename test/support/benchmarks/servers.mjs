// Starts many servers of the benchmarks in this process, `{ file, scenario, port }[]` in the first argument: importing the framework for
// each would take longer than what they are asked. A server reads its scenario and its port when it is imported, so each has its own copy.
import process from 'node:process'
import { pathToFileURL } from 'node:url'

for (const { file, scenario, port } of JSON.parse(process.argv[2])) {
  process.argv[2] = scenario
  process.env.PORT = String(port)
  await import(pathToFileURL(file).href)
}
console.log('started')
