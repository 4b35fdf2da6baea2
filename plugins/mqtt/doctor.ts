import { type DoctorCheck, notForProduction } from '../shared/doctor/check.ts'
import type { SettingsOf } from '../shared/options/index.ts'
import type { mqttOptions } from './options.ts'
import { openLink } from './run.ts'

export const checks: readonly DoctorCheck<SettingsOf<typeof mqttOptions>>[] = [
  notForProduction('mqtt.memory-broker', ({ connect }) => connect.provider === 'memory', {
    problem: 'the MQTT broker is in the memory of this process: no other process can reach it',
    remedy: 'Set mqtt.connect to the address of a broker: { url: "mqtts://…" }',
  }),
  {
    code: 'mqtt.unavailable',
    level: 'warning',
    network: true,
    async find({ settings: { connect } }) {
      // Another client: the broker would disconnect a running one of the same id, end its session or publish the will.
      const asked = { ...connect, clientId: undefined, clean: true, sessionExpiryInterval: undefined, will: undefined }
      const link = await openLink({ ...asked, connectTimeout: Math.min(connect.connectTimeout, patience) }, unheard)
      try {
        await link.open(false)
        return undefined
      } catch (error) {
        const [problem] = (error as Error).message.split('. ', 1)
        const level = connect.required ? 'warning' : 'hint'
        return { problem: problem!, remedy: 'Start the broker, or correct mqtt.connect', level }
      } finally {
        await link.close()
      }
    },
  },
]

/** Milliseconds to wait for the broker, fewer than the doctor waits for a check. */
const patience = 4_000
const unheard = { up() {}, down() {}, message() {} }
