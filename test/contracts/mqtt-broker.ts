import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { type MqttConnectOptions, MqttService, mqtt } from 'framework'
import { fillCarriers, followMessages } from '../support/carriers.ts'
import { memoryLogger } from '../support/kernel.ts'
import { assertSubset, type ContractOptions, contractOf, eventually, type Make, uniqueName } from './contract.ts'

/** A handler that records its arguments. */
function recorder() {
  const calls: unknown[][] = []
  return Object.assign((...args: unknown[]) => void calls.push(args), { calls })
}

/** The options of the contract of an MQTT broker. */
export interface MqttBrokerOptions extends ContractOptions {
  /** Whether features that need MQTT 5 are tested, too. Default true. */
  readonly isVersion5?: boolean
  /**
   * Whether only the connection to the broker is tested: neither packets of the broker nor of the client, and with smaller messages.
   * Websockets of mosquitto 2.0.11 take 4 kB and ten turns a second. Default false.
   */
  readonly isWay?: boolean
}

/** The connections of one test, and its subscriptions. */
async function open(make: Make<MqttConnectOptions>) {
  const handles: { unsubscribe(): Promise<void> }[] = []
  return {
    unique: uniqueName,
    start: async (more: MqttConnectOptions = {}) =>
      MqttService.connect({ ...(await make()), ...more, logger: memoryLogger() }),
    kept<T extends { unsubscribe(): Promise<void> }>(handle: T): T {
      handles.push(handle)
      return handle
    },
    async close() {
      await MqttService.disconnect()
      for (const handle of handles.splice(0)) await handle.unsubscribe()
    },
  }
}

/**
 * Tests a broker, through the connection of the process: the tests run one after the other.
 *
 * @example
 * testMqttBroker(() => ({ url: 'mqtt://127.0.0.1:1883' }), { test })
 */
export function testMqttBroker(make: Make<MqttConnectOptions>, options: MqttBrokerOptions): void {
  const { isVersion5 = true, isWay = false } = options
  const contract = contractOf('an MQTT broker', () => open(make), options)
  const ofPackets: typeof contract = isWay ? () => {} : contract

  contract('a message arrives as it was sent: text, JSON, bytes', async ({ start, kept, unique }) => {
    await start()
    const topic = unique('payloads')
    const [parsed, raw] = [recorder(), recorder()]
    kept(await mqtt.subscribe(topic, parsed, { qos: 1 }))
    kept(await mqtt.subscribe(topic, raw, { qos: 1, raw: true }))
    const messages: unknown[] = [
      'text',
      '',
      'ä\u{1f600}',
      '{"half":',
      { a: [1, null, { ü: true }] },
      [],
      0,
      false,
      null,
      'x'.repeat(isWay ? 20_000 : 200_000),
      Uint8Array.of(0xff, 0, 0xc3),
      '{"__proto__":{"admin":true},"a":1}',
    ]
    await Promise.all(messages.map((message) => mqtt.publish(topic, message, { qos: 1 })))
    await eventually(() => assert.equal(raw.calls.length, messages.length))
    await eventually(() => assert.equal(parsed.calls.length, messages.length))
    const seen = parsed.calls.map(([message]) => message)
    assert.deepEqual(seen.slice(0, 10), messages.slice(0, 10))
    assert.equal(seen[10], '\ufffd\0\ufffd')
    assert.deepEqual(seen[11], { a: 1 })
    assert.equal(Object.hasOwn(seen[11] as object, '__proto__'), false)
    assert.equal(
      parsed.calls.every((call) => call.length === 1),
      true,
    )
    assert.deepEqual([...(raw.calls[10]![0] as Uint8Array)], [0xff, 0, 0xc3])
    assert.ok(raw.calls[4]![0] instanceof Uint8Array)
  })

  ofPackets(
    'a handler receives the topic for a wildcard, and not for an exact name, whatever its parameters are',
    async ({ start, kept, unique }) => {
      await start()
      const base = unique('forms')
      const [exact, plus, hash, shared] = [recorder(), recorder(), recorder(), recorder()]
      kept(await mqtt.subscribe(`${base}/a`, (a, b?: unknown) => exact(a, b)))
      kept(await mqtt.subscribe(`${base}/+`, plus))
      kept(await mqtt.subscribe(`${base}/#`, hash))
      kept(await mqtt.subscribe(`$share/g/${base}/a`, shared))
      await mqtt.publish(`${base}/a`, 1, { qos: 1 })
      await mqtt.publish(base, 2, { qos: 1 })
      await eventually(() => assert.equal(hash.calls.length, 2))
      await eventually(() => assert.deepEqual([exact.calls.length, plus.calls.length, shared.calls.length], [1, 1, 1]))
      assert.deepEqual(exact.calls, [[1, undefined]])
      assert.deepEqual(plus.calls, [[`${base}/a`, 1]])
      assert.deepEqual(hash.calls, [
        [`${base}/a`, 1],
        [base, 2],
      ])
      assert.deepEqual(shared.calls, [[1]])
    },
  )

  for (const qos of [0, 1, 2] as const)
    ofPackets(
      `handlers whose subscriptions overlap get a message of QoS ${qos} once each`,
      async ({ start, kept, unique }) => {
        await start()
        const base = unique('overlap')
        const all = [recorder(), recorder(), recorder(), recorder(), recorder()]
        const filters = [`${base}/+/x`, `${base}/a/+`, `${base}/#`, `${base}/a/x`, `${base}/a/x`]
        for (const [i, filter] of filters.entries())
          kept(await mqtt.subscribe(filter, all[i]!, { qos: (i % 3) as 0 | 1 | 2 }))
        const end = recorder()
        kept(await mqtt.subscribe(`${base}-end`, end, { qos: 2 }))
        // Two equal ones in succession: they are two messages, and not two copies of one.
        for (const message of ['on', 'on', 'off']) await mqtt.publish(`${base}/a/x`, message, { qos })
        await mqtt.publish(`${base}-end`, 1, { qos: 2 })
        await eventually(() => assert.equal(end.calls.length, 1))
        await eventually(() =>
          assert.deepEqual(
            all.map(({ calls }) => calls.length),
            [3, 3, 3, 3, 3],
          ),
        )
        await pause(50)
        for (const { calls } of all)
          assert.deepEqual(
            calls.map((call) => call.at(-1)),
            ['on', 'on', 'off'],
          )
      },
    )

  ofPackets('unsubscribing takes one handler off; the others of the topic go on', async ({ start, kept, unique }) => {
    await start()
    const topic = unique('leave')
    const [first, second] = [recorder(), recorder()]
    const handle = await mqtt.subscribe(topic, first, { qos: 1 })
    const other = kept(await mqtt.subscribe(topic, second, { qos: 1 }))
    assert.equal(handle.topic, topic)
    await mqtt.publish(topic, 1, { qos: 1 })
    await eventually(() => assert.deepEqual([first.calls.length, second.calls.length], [1, 1]))
    await handle.unsubscribe()
    await handle.unsubscribe()
    await mqtt.publish(topic, 2, { qos: 1 })
    await eventually(() => assert.deepEqual(second.calls, [[1], [2]]))
    await other.unsubscribe()
    await mqtt.publish(topic, 3, { qos: 1 })
    const again = recorder()
    kept(await mqtt.subscribe(topic, again, { qos: 1 }))
    await mqtt.publish(topic, 4, { qos: 1 })
    await eventually(() => assert.deepEqual(again.calls, [[4]]))
    assert.deepEqual([first.calls, second.calls], [[[1]], [[1], [2]]])
  })

  ofPackets('a kept message goes to each new handler exactly once', async ({ start, kept, unique }) => {
    await start()
    const base = unique('kept')
    await mqtt.publish(`${base}/a`, 'old', { qos: 1, retain: true })
    const [first, second, third] = [recorder(), recorder(), recorder()]
    kept(await mqtt.subscribe(`${base}/+`, first, { qos: 1, details: true }))
    await eventually(() => assert.equal(first.calls.length, 1))
    kept(await mqtt.subscribe(`${base}/+`, second, { qos: 1 }))
    kept(await mqtt.subscribe(`${base}/a`, third, { qos: 1 }))
    await eventually(() => assert.deepEqual([second.calls.length, third.calls.length], [1, 1]))
    await mqtt.publish(`${base}/a`, 'new', { qos: 1, retain: true })
    await eventually(() =>
      assert.deepEqual(
        [first, second, third].map(({ calls }) => calls.length),
        [2, 2, 2],
      ),
    )
    assert.deepEqual(
      first.calls.map(([, message, details]) => [message, (details as { retain: boolean }).retain]),
      [
        ['old', true],
        ['new', false],
      ],
    )
    // An empty text takes it back.
    await mqtt.publish(`${base}/a`, '', { qos: 1, retain: true })
    // A broker may acknowledge it before it has given it out.
    await eventually(() =>
      assert.deepEqual(
        [first, second, third].map(({ calls }) => calls.length),
        [3, 3, 3],
      ),
    )
    const late = recorder()
    kept(await mqtt.subscribe(`${base}/a`, late, { qos: 1 }))
    await mqtt.publish(`${base}/a`, 'live', { qos: 1 })
    await eventually(() => assert.deepEqual(late.calls, [['live']]))
  })

  ofPackets(
    'a handler that has received a kept message live does not receive it again with a new handler',
    async ({ start, kept, unique }) => {
      await start()
      const topic = unique('kept/live')
      const [first, second, third] = [recorder(), recorder(), recorder()]
      kept(await mqtt.subscribe(topic, first, { qos: 1 }))
      await mqtt.publish(topic, 'on', { qos: 1, retain: true })
      await eventually(() => assert.deepEqual(first.calls, [['on']]))
      kept(await mqtt.subscribe(topic, second, { qos: 1 }))
      kept(await mqtt.subscribe(`${topic}/#`, third, { qos: 1 }))
      await eventually(() => assert.deepEqual([second.calls, third.calls], [[['on']], [[topic, 'on']]]))
      await mqtt.publish(topic, 'end', { qos: 1 })
      await eventually(() => assert.deepEqual(first.calls.at(-1), ['end']))
      assert.deepEqual(first.calls, [['on'], ['end']])
      await mqtt.publish(topic, '', { qos: 1, retain: true })
    },
  )

  ofPackets('what came with a message, when it is asked for', async ({ start, kept, unique }) => {
    await start()
    const topic = unique('details')
    const seen = recorder()
    kept(await mqtt.subscribe(topic, seen, { qos: 2, details: true }))
    const more = isVersion5
      ? {
          userProperties: { unit: 'C', tag: ['a', 'b'] },
          contentType: 'text/plain',
          responseTopic: 'answers',
          correlationData: Uint8Array.of(7),
          messageExpiryInterval: 60,
        }
      : {}
    await mqtt.publish(topic, 'x', { qos: 1, ...more })
    await eventually(() => assert.equal(seen.calls.length, 1))
    const [message, details] = seen.calls[0] as [string, Record<string, unknown>]
    assert.deepEqual(
      [message, details.topic, details.qos, details.retain, details.duplicate],
      ['x', topic, 1, false, false],
    )
    if (!isVersion5) return
    assert.deepEqual({ ...(details.userProperties as object) }, { unit: 'C', tag: ['a', 'b'] })
    assert.deepEqual(
      [details.contentType, details.responseTopic, ...(details.correlationData as Uint8Array)],
      ['text/plain', 'answers', 7],
    )
  })

  contract('the carrier of a tool comes with the message, over MQTT 5', async ({ start, kept, unique }) => {
    await start()
    const topic = unique('carrier')
    const handler = recorder()
    kept(await mqtt.subscribe(topic, handler, { qos: 1 }))
    const messages = followMessages(topic)
    const carrier = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, baggage: 'of the tool' }
    const end = fillCarriers(carrier, 'mqtt.publish')
    await mqtt.publish(topic, 1, { qos: 1 })
    if (isVersion5) await mqtt.publish(topic, 2, { qos: 1, userProperties: { baggage: 'of the application' } })
    end()
    const expected = isVersion5 ? [carrier, { ...carrier, baggage: 'of the application' }] : [{}]
    await eventually(() => assert.deepEqual(messages.seen, expected))
    messages.end()
    assert.deepEqual(handler.calls[0], [1])
  })

  contract('messages of one publisher keep their order', async ({ start, kept, unique }) => {
    await start()
    const topic = unique('order')
    const seen: unknown[] = []
    const slow = async (message: unknown) => {
      if (Number(message) % 10 === 0) await pause(2)
      seen.push(message)
    }
    kept(await mqtt.subscribe(topic, slow, { qos: 1 }))
    await Promise.all(Array.from({ length: 300 }, (_, i) => mqtt.publish(topic, i, { qos: 1 })))
    await eventually(() => assert.equal(seen.length, 300))
    assert.deepEqual(
      seen,
      Array.from({ length: 300 }, (_, i) => i),
    )
  })

  ofPackets(
    'a handler publishes and waits for the broker, also for a message to itself',
    async ({ start, kept, unique }) => {
      await start()
      const topic = unique('chain')
      const seen: number[] = []
      const handler = async (message: number) => {
        if (message < 5) await mqtt.publish(topic, message + 1, { qos: 2 })
        seen.push(message)
      }
      kept(await mqtt.subscribe(topic, handler as never, { qos: 2 }))
      await mqtt.publish(topic, 1, { qos: 2 })
      await eventually(() => assert.deepEqual(seen.sort(), [1, 2, 3, 4, 5]))
    },
  )

  contract('a slow handler does not hold up others', async ({ start, kept, unique }) => {
    await start()
    const base = unique('slow')
    let release = () => {}
    const blocked = new Promise<void>((resolve) => {
      release = resolve
    })
    const begun = recorder()
    kept(
      await mqtt.subscribe(
        `${base}/slow`,
        async (message) => {
          begun(message)
          await blocked
        },
        { qos: 1 },
      ),
    )
    const quick = recorder()
    kept(await mqtt.subscribe(`${base}/quick`, quick, { qos: 1 }))
    await Promise.all([0, 1, 2].map((i) => mqtt.publish(`${base}/slow`, i, { qos: 1 })))
    // More than the twenty that mosquitto has unacknowledged at most.
    const count = isWay ? 25 : 100
    await Promise.all(Array.from({ length: count }, (_, i) => mqtt.publish(`${base}/quick`, i, { qos: 1 })))
    await eventually(() => assert.equal(quick.calls.length, count))
    assert.deepEqual(begun.calls, [[0]])
    release()
    await eventually(() => assert.deepEqual(begun.calls, [[0], [1], [2]]))
  })

  contract(
    'closing lets handlers end, with their publications, and takes no other messages',
    async ({ start, kept, unique }) => {
      const service = await start()
      const topic = unique('close')
      const done: unknown[] = []
      let begun = false
      const handler = async (message: unknown) => {
        begun = true
        await pause(100)
        await mqtt.publish(`${topic}-done`, message, { qos: 1 })
        done.push(message)
      }
      kept(await service.subscribe(topic, handler, { qos: 1 }))
      await service.publish(topic, 1, { qos: 1 })
      await eventually(() => assert.equal(begun, true))
      // A message that is published now, without a caller that waits for it, arrives, too.
      const last = service.publish(`${topic}-last`, 1, { qos: 2 })
      await MqttService.disconnect()
      await last
      assert.deepEqual(done, [1])
      assert.equal(service.isConnected, false)
      await assert.rejects(mqtt.publish(topic, 1), { code: 'MqttNotConnectedError' })
    },
  )

  contract('a session that the broker keeps collects messages while its client is away', async ({ start, unique }) => {
    const topic = unique('session')
    const options = { clientId: unique('client'), clean: false, ...(isVersion5 && { sessionExpiryInterval: 300 }) }
    const first = await start(options)
    await first.subscribe(topic, () => {}, { qos: 1 })
    await MqttService.disconnect()
    await start()
    await Promise.all(Array.from({ length: 100 }, (_, i) => mqtt.publish(topic, i, { qos: 1 })))
    await MqttService.disconnect()
    // Connected first and subscribed then: messages in between wait.
    const back = await start(options)
    await pause(50)
    const seen: unknown[] = []
    await back.subscribe(topic, (message) => void seen.push(message), { qos: 1 })
    await eventually(() => assert.equal(seen.length, 100))
    assert.deepEqual(
      seen,
      Array.from({ length: 100 }, (_, i) => i),
    )
    await MqttService.disconnect()
    // Clean again, so that the broker forgets it.
    await start({ ...options, clean: true, sessionExpiryInterval: undefined })
  })

  contract(
    'subscriptions are declared before there is a connection, and outlive it',
    async ({ start, kept, unique }) => {
      const topic = unique('declared')
      const seen = recorder()
      const handle = kept(mqtt.subscribe(topic, seen, { qos: 1 }))
      assertSubset(await handle, { topic })
      for (let i = 0; i < 3; i++) {
        await start()
        await mqtt.publish(topic, i, { qos: 1 })
        await eventually(() => assert.equal(seen.calls.length, i + 1))
        await MqttService.disconnect()
      }
      assert.deepEqual(seen.calls, [[0], [1], [2]])
    },
  )
}
