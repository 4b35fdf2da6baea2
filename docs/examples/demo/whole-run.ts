import { testLibrary } from './whole.ts'

const start = process.cpuUsage()
await testLibrary(process.env.SERVICES === 'real' ? 'real' : 'memory')
const { user, system } = process.cpuUsage(start)
console.log(JSON.stringify({ ms: Math.round((user + system) / 1000) }))
