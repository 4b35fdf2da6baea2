import { definePlugin, type RouteOptions } from '../../kernel/index.ts'
import { ControllerFiles } from './loader.ts'
import { checkGuards } from './mount.ts'
import { controllersOptions } from './options.ts'
import { type SerializeStep, serialized, serializeStep } from './serialize.ts'
import { checks, type ValidateStep, validateStep } from './validate.ts'

/** The marks that decorators leave in the options of a route. */
interface Marked {
  readonly [checks]?: readonly ValidateStep[]
  readonly [serialized]?: SerializeStep
}

/** Returns the schemas of the decorators as route options, which the API description understands. */
function describeMarked(options: RouteOptions): RouteOptions[] {
  const marked = options as Marked
  const sets: RouteOptions[] = (marked[checks] ?? []).map(({ schemas, customError }) => {
    if (customError === undefined) return { ...schemas }
    const { status = 400, message: description } = customError
    const response = {
      $ref: '#/components/responses/ValidationError',
      ...(description !== undefined && { description }),
    }
    return { ...schemas, apidoc: { responses: { [status]: response } } }
  })
  const step = marked[serialized]
  if (step !== undefined) sets.push({ responses: { 200: step.schema } })
  return sets
}

/**
 * Loads controller files at boot, and implements `@validate` and `@serialize`.
 *
 * Every server has this plugin; the server option `controllerPatterns` is its option `patterns`.
 *
 * @example
 * const server = new Server({ controllerPatterns: ['src/controllers/*.ts'] })
 */
export const controllers = definePlugin({
  name: 'controllers',
  // Its steps validate, and refuse no person.
  access: { routes: true, guards: () => undefined },
  options: controllersOptions,
  // The decorators have already checked these values.
  routeOptions: {
    [checks]: (given: unknown) => given as Marked[typeof checks],
    [serialized]: (given: unknown) => given as Marked[typeof serialized],
  },
  openapi: { describe: describeMarked },
  provide({ patterns }) {
    const files = new ControllerFiles()
    files.patterns.push(...patterns)
    return { controllers: files }
  },
  setup(ctx) {
    const { services, log } = ctx
    ctx.onRoute((route) => {
      const marked = route.settings
      for (const step of marked[checks] ?? []) {
        route.add('input', validateStep(route, step, services.get('validation')))
      }
      const step = marked[serialized]
      if (step === undefined) return
      serializeStep(route, step, services.get('responses'), (error, name) =>
        log.warn({ err: error, route: name }, `a response of ${name} does not match its @serialize schema`),
      )
    })
    const files = services.get('controllers')
    const { router } = ctx.server
    // Remains synchronous without patterns: a promise would delay the boot of every server by one turn of the event loop.
    if (files.patterns.length > 0) return files.load(files.patterns, router, log).then(() => checkGuards(router))
    checkGuards(router)
  },
})
