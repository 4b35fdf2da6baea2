import { ownCommand } from '../run/own-command.ts'
import { namesOf } from '../scaffold/names.ts'
import { decoratorNotes, globOf, importPath, inFolder } from '../scaffold/place.ts'
import { generateFlags, scaffold } from '../scaffold/scaffold.ts'
import { moduleAndTest } from '../scaffold/source.ts'

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
    const { kebab, pascal } = namesOf(input.arguments.name, 'controller')
    const asClass = input.flags.decorators
    scaffold(input, 'controllers', (place) => ({
      files: moduleAndTest(place, kebab, 'controller', { kebab, asClass, className: `${pascal}Controller` }),
      next: [
        `In ${place.server}, which has the routes of every file that is imported:`,
        `  import '${importPath(place, inFolder(place, `${kebab}.ts`))}'`,
        `or, for all files of the folder: new Server({ controllerPatterns: ['${globOf(place)}'] })`,
        ...(asClass ? decoratorNotes(place) : []),
      ],
    }))
  },
})
