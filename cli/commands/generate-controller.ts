import { ownCommand } from '../run/own-command.ts'
import { type Names, namesOf } from '../scaffold/names.ts'
import { decoratorNotes, globOf, importPath, inFolder, type Place } from '../scaffold/place.ts'
import { generateFlags, type Scaffold, scaffold } from '../scaffold/scaffold.ts'
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
    const names = namesOf(input.arguments.name, 'controller')
    scaffold(input, 'controllers', (place) => controller(place, names, input.flags.decorators))
  },
})

/** Routes of one resource; with `decorators` as the methods of a class, which is the deprecated form. */
function controller(place: Place, { kebab, pascal }: Names, decorators: boolean): Scaffold {
  const file = inFolder(place, `${kebab}.ts`)
  return {
    files: moduleAndTest(place, kebab, 'controller', { kebab, asClass: decorators, className: `${pascal}Controller` }),
    next: [
      `In ${place.server}, which has the routes of every file that is imported:`,
      `  import '${importPath(place, file)}'`,
      `or, for all files of the folder: new Server({ controllerPatterns: ['${globOf(place)}'] })`,
      ...(decorators ? decoratorNotes(place) : []),
    ],
  }
}
