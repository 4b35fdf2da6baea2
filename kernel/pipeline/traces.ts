import type { KernelRequest, Request } from '../http/request/request.ts'
import type { Response } from '../http/response/response.ts'
import type { KernelResponse } from '../http/response/response-buffer.ts'
import { nameOf } from '../routing/middleware.ts'
import type { Step } from '../routing/route.ts'
import { Trace, type TraceOutcome, TracePoint } from '../support/trace.ts'
import type { Terminal } from './chain.ts'

/** A request, from the moment its route is known until its response has left or its client has gone. */
export interface RequestTrace extends TraceOutcome {
  /** The request, as handlers see it. */
  readonly request: Request
  /** Its response; what it contains depends on how far the request has come. */
  readonly response: Response
}

/** A step of the chain, when it begins. */
export interface StepTrace extends Pick<RequestTrace, 'request' | 'response'> {
  /** The name of the step, as `explain` shows it; `handler` for the last one. */
  readonly name: string
  /** The plugin that it belongs to, or `application`. */
  readonly plugin: string
}

/** A failure of a request, whatever its response is. */
export interface ErrorTrace extends Pick<RequestTrace, 'request' | 'response'> {
  /** The value that was thrown or raised, unchanged. */
  readonly error: unknown
}

export const requestTrace = new Trace<RequestTrace>('request')
export const handlerTrace = new Trace<RequestTrace>('handler')
export const stepPoint = new TracePoint<StepTrace>('step')
export const errorPoint = new TracePoint<ErrorTrace>('error')

/** Calls back once a request is over, and notes before that whether its client has left without a response. */
export function whenOver({ request, response }: { request: Request; response: Response }, over: () => void): void {
  request.raw.onSettled(() => {
    if (!(response as KernelResponse).sent) (response as KernelResponse).aborted = true
    over()
  }, true)
}

/** Begins a traced request: its chain, and the hooks and error handlers after it, run in the context that is bound to its start. */
export function runTraced(req: KernelRequest, res: KernelResponse, run: () => void): void {
  const event: RequestTrace = { request: req as Request, response: res as Response }
  if (requestTrace.isEndOn) whenOver(event, () => requestTrace.end(event))
  requestTrace.begin(event, run)
}

/**
 * Steps that report when they begin, and run in the context that is bound to that, if there is a subscriber at boot; otherwise the given steps,
 * at no cost. `home`: the plugin whose route they lead to.
 */
export function tracedSteps(steps: readonly Step[], home?: string): readonly Step[] {
  if (!stepPoint.isOn) return steps
  return steps.map((step) => {
    const plugin = step.plugin === 'application' ? (home ?? step.plugin) : step.plugin
    const run: Step['run'] = (request, response, next) =>
      stepPoint.run({ request, response, name: step.name, plugin }, () => step.run(request, response, next))
    return { ...step, run }
  })
}

/** The same for the handler, all of whose work can be traced: nothing comes after it. */
export function tracedTerminal(terminal: Terminal, plugin: string): Terminal {
  if (!stepPoint.isOn && !handlerTrace.isOn) return terminal
  const traced: Terminal = (request, response) => {
    const event = () => ({ request, response }) as RequestTrace
    const run = () => handlerTrace.run(event, () => terminal(request, response))
    return stepPoint.isOn ? stepPoint.run({ ...event(), name: 'handler', plugin }, run) : run()
  }
  return Object.defineProperty(traced, 'name', { value: nameOf(terminal, 'handler') })
}
