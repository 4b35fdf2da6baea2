import { atEachBoot, definePlugin } from '../../kernel/index.ts'
import { mqttOptions } from './options.ts'
import { MqttService } from './service.ts'
import { declarations } from './subscriptions/declarations.ts'
import { reportIdleSubscriptions } from './subscriptions/idle.ts'

// For servers without this plugin.
atEachBoot(reportIdleSubscriptions)

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
  options: mqttOptions,
  provide: ({ connect, subscribe }) => ({ mqtt: new MqttService({}, { ...connect, subscribe, logger: undefined }) }),
  setup(ctx) {
    const service = ctx.services.get('mqtt')
    service.logTo(ctx.log)
    declarations.expected.add(service)
    ctx.onListen(() => service.start())
    ctx.server.closing.addEventListener('abort', () => service.halt())
    ctx.onClose(async (timeLeft) => void (await service.stop({ timeout: timeLeft })))
  },
})
