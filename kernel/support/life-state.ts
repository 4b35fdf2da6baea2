/** The state of one server's life cycle. Only the life cycle writes it; all other code reads it here. */
export class LifeState {
  /** Whether plugins, middlewares and hooks are fixed. */
  booted = false
  listenCalled = false
  /** Whether the socket is bound and the listen hooks have run. */
  started = false
  closing = false
  /** Whether responses have the header `Connection: close`. */
  draining = false
  /** Whether new requests are refused. */
  refusing = false
  closed = false
  /** Whether closing has stopped waiting for running work, such as a job. */
  abandoned = false
  /** Ends each response that is being streamed to a caller within the process. */
  readonly streams = new Set<(reason: Error) => void>()
  /** Set while the socket is bound. */
  address: { readonly host: string; readonly port: number } | undefined

  /** Whether requests should be sent here: booted, not closing, and after the listen hooks where it listens. */
  get isReady(): boolean {
    return this.booted && !this.closing && (!this.listenCalled || this.started)
  }

  get isListening(): boolean {
    return this.address !== undefined && !this.closed
  }
}
