import { ownCommand } from '../run/own-command.ts'
import { middleware } from '../scaffold/kinds/middleware.ts'
import { namesOf } from '../scaffold/names.ts'
import { generateFlags, scaffold } from '../scaffold/scaffold.ts'

export const generateMiddleware = ownCommand({
  details: `Writes src/middlewares/<name>.ts, which adds a typed member to the request for the handlers after it, and a test.`,
  arguments: [{ name: 'name', description: 'The member that it adds: tenant, api-key', required: true }],
  flags: generateFlags,
  run(input) {
    const names = namesOf(input.arguments.name, 'middleware')
    scaffold(input, 'middlewares', (place) => middleware(place, names))
  },
})
