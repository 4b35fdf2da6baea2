import { testLibrary } from './whole.ts'

// `SERVICES`: what it runs with, one after the other. Prints the processor time of each in milliseconds.
const times: Record<string, number> = {}
for (const services of (process.env.SERVICES ?? 'memory').split(',')) {
  const start = process.cpuUsage()
  await testLibrary(services === 'real' ? 'real' : 'memory')
  const { user, system } = process.cpuUsage(start)
  times[services] = Math.round((user + system) / 1000)
}
console.log(JSON.stringify(times))
