import type { InjectRequest, InjectResponse, Server, ServerOptions } from '../../index.ts'
import type { Built } from '../micro/built.ts'
import { must, type Operation } from './pair.ts'

/** Makes a server with these plugins, or one without any, for the same routes by hand. */
export async function serverOf(built: Built, plugins: ServerOptions['plugins'] = {}): Promise<Server> {
  const { RouteCollection, Server } = await built.door()
  return new Server({ router: new RouteCollection(), plugins }) as unknown as Server
}

/** Sends one request without a socket, the cost of which is part of both figures. */
export function asking(
  server: Server,
  request: () => InjectRequest,
  isRight: (response: InjectResponse) => boolean,
): Operation {
  return async () => {
    const response = await server.inject(request())
    if (isRight(response)) return
    must(false, `the response is ${response.status} ${JSON.stringify(response.headers)} ${Buffer.from(response.body)}`)
  }
}
