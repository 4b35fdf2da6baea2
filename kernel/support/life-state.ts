/** Where the life of one server stands. The life cycle alone writes it, and everyone else reads it here. */
export class LifeState {
  /** Plugins, middlewares and hooks are fixed. */
  booted = false
  listenCalled = false
  /** The socket is bound, and the listen hooks are through. */
  started = false
  closing = false
  /** Answers carry `Connection: close`. */
  draining = false
  /** New requests are refused. */
  refusing = false
  closed = false
  /** Set while the socket is bound. */
  address: { readonly host: string; readonly port: number } | undefined

  /** Whether requests should be sent here: booted, not closing, and through with the listen hooks where it listens. */
  get isReady(): boolean {
    return this.booted && !this.closing && (!this.listenCalled || this.started)
  }

  get isListening(): boolean {
    return this.address !== undefined && !this.closed
  }
}
