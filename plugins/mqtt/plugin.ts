import { checkOptions, definePlugin } from '../../kernel/index.ts'
import type { MqttOptions } from './options.ts'
import { MqttService } from './service.ts'

/** What closing leaves of its time for the waiting: the hook has a deadline of its own, which must not come first. */
const margin = 0.9

/**
 * Connects to an MQTT broker while the server listens, and handles the messages of what was subscribed to; needs the package
 * `mqtt`, unless the provider is `'memory'`.
 *
 * @example
 * import { mqtt, Server } from 'framework'
 *
 * mqtt.subscribe('doors/front', (door) => console.log(door), { qos: 1 })
 * const server = new Server({ plugins: { mqtt: { connect: { host: 'broker.example' }, subscribe: ['dist/mqtt/*.js'] } } })
 * await server.listen()
 */
export const mqtt = definePlugin({
  name: 'mqtt',
  provide(options: MqttOptions = {}) {
    checkOptions('mqtt', options, ['connect', 'subscribe'])
    const { connect = {}, subscribe } = options
    return { mqtt: new MqttService({ ...connect, subscribe }, ['src/mqtt/**/*.{ts,js}']) }
  },
  setup(ctx) {
    const service = ctx.services.get('mqtt')
    service.logTo(ctx.log)
    ctx.onListen(() => service.start())

    const { closeTimeout, drainWindow } = ctx.server.settings
    let began = 0
    ctx.server.closing.addEventListener('abort', () => {
      began = performance.now() - Math.min(drainWindow, closeTimeout / 2)
      service.halt()
    })
    ctx.onClose(async () => {
      const left = Math.min(closeTimeout / 2, closeTimeout - (performance.now() - began))
      await service.stop({ timeout: Math.max(0, left * margin) })
    })
  },
})
