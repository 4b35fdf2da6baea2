import type { Names } from '../names.ts'
import { decoratorNotes, globOf, importPath, inFolder, type Place } from '../place.ts'
import type { Scaffold } from '../scaffold.ts'
import { moduleAndTest } from '../source.ts'

/** Routes of one resource; with `decorators` as the methods of a class, which is the deprecated form. */
export function controller(place: Place, { kebab, pascal }: Names, decorators: boolean): Scaffold {
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
