import process from 'node:process'
import { CronService, RouteCollection, Server, setCronGlobalErrorHandler } from 'framework'
import { testClock } from 'framework/testing'

// Scheduled jobs on whichever runtime runs this. Argument: the glob of the job files. Prints what it saw as JSON.
const [, , files = ''] = process.argv
/** @type {string[]} */
const logged = []
/** @type {any} */
const logger = { info: (/** @type {string} */ text) => logged.push(text), child: () => logger }
for (const level of ['debug', 'warn', 'error']) logger[level] = () => {}

let failures = 0
setCronGlobalErrorHandler((_error, run) => {
  failures += run.name === 'failing' ? 1 : 1000
})

// Night by night, over both changes of clocks, without waiting.
const clock = testClock('2026-03-27T12:00:00Z')
const fast = await CronService.run({ crons: [files], logger })
await clock.advance(1_000)
const failedOnce = failures
await clock.set('2026-03-28T00:59:59Z')
await clock.advance(1_000)
for (const date of ['03-28', '03-29', '03-30', '10-24', '10-25', '10-26']) {
  await clock.set(`2026-${date}T03:00:00Z`)
}
const nights = logged.filter((line) => line.startsWith('2026') && line.endsWith('0:00.000Z'))
const names = fast.jobs().map(({ name }) => name)
await fast.stop()
clock.restore()

// With the clock of the machine, in a server.
logged.length = 0
const server = new Server({
  port: 0,
  host: '127.0.0.1',
  drainWindow: 0,
  logger,
  router: new RouteCollection(),
  plugins: { cron: { crons: [files] } },
})
await server.inject.get('/')
const underInject = logged.length
await server.listen()
const end = Date.now() + 60_000
while (!logged.includes('handle') && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 50))
const ran = logged.includes('handle')
await server.close()
const count = logged.length
// A job of every second would have run.
await new Promise((resolve) => setTimeout(resolve, 1_100))

console.log(
  JSON.stringify({
    names,
    nights: [...new Set(nights)],
    failedOnce,
    underInject,
    ran,
    afterClose: logged.length - count,
  }),
)
