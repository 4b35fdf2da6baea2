import { type Logger, within } from '../../kernel/index.ts'

interface Rule {
  /** The name of the channel; `rule` is the name of its option that is called. */
  readonly name: string
  readonly rule: string
  readonly timeout: number
  readonly log: Logger
}

/** Calls a rule of a channel, which fails closed: an error, a rejection, a timeout or anything but `true` is a refusal. */
export async function allows({ name, rule, timeout, log }: Rule, ask: () => unknown): Promise<boolean> {
  const failed = (why: string, error?: unknown) => {
    log.error({ err: error, channel: name }, `the option ${rule} of the channel "${name}" ${why}, so access is denied`)
    return false
  }
  try {
    const verdict = await within(Promise.resolve(ask()), timeout, () => 'late' as const)
    if (verdict === 'late') return failed(`has not responded within ${timeout} ms`)
    if (verdict === true || verdict === false) return verdict
    return failed('returned neither true nor false')
  } catch (error) {
    return failed('has failed', error)
  }
}
