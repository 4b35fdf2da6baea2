import { parseArgs } from 'node:util'
import { startPostgres } from '../../../support/postgres.ts'
import { startRedis } from '../../../support/redis.ts'
import { contest } from './contest.ts'

// `node --import tsx test/plugins/locks/fencing/run.ts --rounds 200 --seed 5 --store postgres`, after a build. Prints what it saw.
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
    store: { type: 'string', default: 'redis' },
  },
})
const server = await (values.store === 'redis' ? startRedis() : startPostgres())
console.error(`seed ${values.seed}`)
try {
  const seen = await contest({ [values.store]: server.url }, Number(values.seed), Number(values.rounds))
  console.log(seen)
  process.exitCode = seen.violations.length === 0 ? 0 : 1
} finally {
  await server.stop()
}
