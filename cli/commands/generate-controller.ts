import { ownCommand } from '../run/own-command.ts'
import { controller } from '../scaffold/kinds/controller.ts'
import { namesOf } from '../scaffold/names.ts'
import { generateFlags, scaffold } from '../scaffold/scaffold.ts'

export const generateController = ownCommand({
  details: `Writes src/controllers/<name>.ts with routes to list, read, add and remove items, schemas that validate and type them,
and a test.`,
  arguments: [
    { name: 'name', description: 'The resource of the routes, and their path: users, order-items', required: true },
  ],
  flags: {
    decorators: { type: 'boolean', description: 'Writes methods of a class, which is the deprecated form' },
    ...generateFlags,
  },
  run(input) {
    const names = namesOf(input.arguments.name, 'controller')
    scaffold(input, 'controllers', (place) => controller(place, names, input.flags.decorators))
  },
})
