export interface Watching {
  /** A message of the channel. */
  message(payload: unknown): void
  /** Messages were missed: load the state of what is shown again. */
  gap(): void
  /** The server does not let this client into the channel, or has removed it. */
  refused?(why: string): void
}

/** Follows one channel for as long as the page is open, across lost connections and restarts of the server. */
export function watch(url: string, channel: string, { message, gap, refused }: Watching): () => void {
  let after: string | undefined
  let socket: WebSocket | undefined
  let isStopped = false
  let wait = 500

  const connect = () => {
    socket = new WebSocket(url)
    socket.onopen = () => socket?.send(JSON.stringify({ type: 'channel:join', data: { channel, after } }))
    socket.onmessage = ({ data: text }) => {
      const { type, data } = JSON.parse(String(text))
      // Each of these messages carries the position after which to resume, if it is known.
      if (data?.id !== undefined) after = data.id
      if (type === 'channel:joined') wait = 500
      else if (type === 'channel:message') message(data.payload)
      else if (type === 'channel:gap') gap()
      // Redis is unavailable: the next attempt may succeed.
      else if (type === 'channel:refused' && data.code === 'ChannelUnavailableError') socket?.close()
      else if (type === 'channel:refused' || type === 'channel:left') {
        isStopped = true
        socket?.close()
        refused?.(data.message ?? data.reason)
      }
    }
    socket.onclose = () => {
      if (isStopped) return
      setTimeout(() => isStopped || connect(), wait * (0.5 + Math.random()))
      wait = Math.min(wait * 2, 30_000)
    }
  }
  connect()
  return () => {
    isStopped = true
    socket?.close()
  }
}
