import { randomUUID } from 'node:crypto'
import { definePlugin, option } from 'framework'
import { OpenWorkflow, type Worker, type Workflow } from 'openworkflow'
import { BackendPostgres } from 'openworkflow/postgres'
import postgres, { type Sql } from 'postgres'
import { type Run, runTrace, stepTrace, work } from './work.ts'

type Spec<Input, Output> = Workflow<Input, Output, Input>['spec']
type Implementation<Input, Output> = Workflow<Input, Output, Input>['fn']
type Steps = Parameters<Implementation<never, never>>[0]['step']

export interface WorkflowSettings {
  readonly url: string
  readonly concurrency: number
}

/** A run that sleeps or waits leaves its function with this error, which is not a failure. */
const isPause = (error: unknown) => error instanceof Error && error.name === 'SleepSignalError'

export class Workflows {
  /** Starts and cancels runs, and sends them signals. */
  readonly client: OpenWorkflow
  readonly #settings: WorkflowSettings
  readonly #pool: Sql
  readonly #backend: BackendPostgres
  #worker: Worker | undefined
  #isDraining = false

  constructor(settings: WorkflowSettings) {
    this.#settings = settings
    this.#pool = postgres(settings.url, {
      connect_timeout: 5,
      // Otherwise it waits for up to 20 seconds after an outage.
      backoff: () => 0.5,
      // A connection that breaks while it reads the types would end the process. The package uses only this one.
      fetch_types: false,
      types: { ids: { to: 1009, from: [1009], serialize: (ids: string[]) => `{${ids}}`, parse: String } },
      // The package expects its columns in camel case.
      transform: { column: { from: postgres.toCamel } },
    })
    this.#backend = BackendPostgres.fromPool(this.#pool)
    this.client = new OpenWorkflow({ backend: this.#backend })
  }

  /** Creates the tables of the package, or brings them up to date. */
  async createTables(): Promise<void> {
    await this.#pool.begin(async (transaction) => {
      // Without the lock, all but one of several instances that start together fail.
      await transaction`select pg_advisory_xact_lock(20260301)`
      const migrated = await BackendPostgres.connect(this.#settings.url)
      await migrated.stop()
    })
  }

  /** Resolves with the run that has this id, or with `null`. */
  async find(workflowRunId: string) {
    return await this.#backend.getWorkflowRun({ workflowRunId })
  }

  /** Says what a workflow does. Call it in the `setup` of a plugin that depends on this one. */
  implement<Input, Output>(spec: Spec<Input, Output>, fn: Implementation<Input, Output>): void {
    // By default, a connection that breaks between two steps fails the run for good. 0 is: try again until it works.
    const retryPolicy = { maximumAttempts: 0, ...spec.retryPolicy }
    this.client.implementWorkflow({ ...spec, retryPolicy }, async (given) => {
      const run: Run = { workflow: spec.name, id: given.run.id }
      const settled = await runTrace.run(
        () => ({ ...run }),
        async () => {
          try {
            return { output: await fn({ ...given, step: this.#stepsOf(run, given.step) }) }
          } catch (error) {
            if (isPause(error)) return { pause: error }
            throw error
          }
        },
      )
      if ('pause' in settled) throw settled.pause
      return settled.output
    })
  }

  #stepsOf(run: Run, steps: Steps): Steps {
    const running = new Set<Promise<unknown>>()
    return {
      run: async (config, fn) => {
        if (this.#isDraining) {
          await Promise.allSettled(running)
          // Throws: the run pauses for a millisecond, and then belongs to the process that takes it up first.
          await steps.sleep(`handed over ${randomUUID()}`, '1 ms')
        }
        const event = () => ({ ...run, step: config.name })
        const result = steps.run(config, () => stepTrace.run(event, async () => fn()))
        running.add(result)
        return await result.finally(() => running.delete(result))
      },
      sleep: steps.sleep.bind(steps),
      runWorkflow: steps.runWorkflow.bind(steps),
      sendSignal: steps.sendSignal.bind(steps),
      waitForSignal: steps.waitForSignal.bind(steps),
    }
  }

  /** Begins to work on runs. A server that listens does so by itself. */
  async work(): Promise<void> {
    this.#worker ??= this.client.newWorker({ concurrency: this.#settings.concurrency })
    await this.#worker.start()
  }

  /** Takes up no more runs, lets the running steps finish, and hands over what is left of their runs. */
  async drain(): Promise<void> {
    this.#isDraining = true
    await this.#worker?.stop()
  }

  async close(): Promise<void> {
    // Without a limit, in seconds, this would wait for ever for a connection that has broken during a query.
    await this.#pool.end({ timeout: 1 })
  }
}

declare module 'framework' {
  interface Services {
    workflows: Workflows
  }
}

/** Workflows that survive the process, in Postgres, with the package `openworkflow`. */
export const workflows = definePlugin({
  name: 'workflows',
  options: option.shape({
    url: option.text().secret().required().env('DATABASE_URL'),
    /** How many runs this process works on at once. */
    concurrency: option.int({ min: 1 }).default(10),
  }),
  provide: (settings) => ({ workflows: new Workflows(settings) }),
  work,
  health: { workflows: (services) => services.get('workflows').find('') },
  async setup(ctx, _settings, { workflows }) {
    await workflows.createTables()
    ctx.onListen(() => workflows.work())
    ctx.onDrain(() => {
      ctx.log.info('takes up no more workflows')
      return workflows.drain()
    })
  },
  close: ({ workflows }) => workflows.close(),
})
