import process from 'node:process'

// Starts the application of a fixture in a process of its own. Arguments: the fixture, and its options as JSON. Prints the port.
const [, , fixture = '', options = '{}'] = process.argv
const { port, events } = await (await import(fixture)).start(JSON.parse(options))
for (const event of /** @type {const} */ (['uncaughtException', 'unhandledRejection']))
  process.on(event, (/** @type {any} */ error) => {
    if (events === undefined) throw error
    events.push(`${event} ${error?.stack ?? error}`)
  })
console.log(JSON.stringify({ port }))
