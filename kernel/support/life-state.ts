/** The state of the life of one server. Only the life cycle writes it, and all other code reads it here. */
export class LifeState {
  /** Plugins, middlewares and hooks are fixed. */
  booted = false
  listenCalled = false
  /** The socket is bound, and the listen hooks have run. */
  started = false
  closing = false
  /** Answers carry `Connection: close`. */
  draining = false
  /** New requests are refused. */
  refusing = false
  closed = false
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
