import { Server } from 'framework'
import { orders } from './orders.ts'
import { workflows } from './workflows.ts'

export function makeServer(companies?: string) {
  return new Server({
    port: 0,
    plugins: { log: true, health: true, metrics: true, workflows: workflows(), orders: orders({ companies }) },
  })
}
