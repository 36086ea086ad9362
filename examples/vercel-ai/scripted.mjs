// Runs the agent with a scripted model, for the test, without a real model or a network.
import { MockLanguageModelV3 } from 'ai/test'
import { run } from './agent.mjs'

const [program, url] = process.argv.slice(2)
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
const answer = (part, unified) => ({ content: [part], finishReason: { unified, raw: undefined }, usage, warnings: [] })
const call = (toolName, input) => answer({ type: 'tool-call', toolCallId: toolName, toolName, input: JSON.stringify(input) }, 'tool-calls')

/** What the last tool said. */
const lastResult = prompt => JSON.stringify(prompt.filter(m => m.role === 'tool').at(-1)?.content ?? '')

let turn = 0
const model = new MockLanguageModelV3({
  doGenerate: async ({ prompt }) => {
    const seen = lastResult(prompt)
    switch (turn++) {
      case 0: return call('browser_navigate', { url })
      case 1: return call('browser_interact', { steps: [{ action: 'click', ref: Number(/\[(\d+)\] Pay/.exec(seen)[1]) }] })
      default: return answer({ type: 'text', text: /Thanks for \d+/.exec(seen)?.[0] ?? `no thanks in ${seen}` }, 'stop')
    }
  },
})
console.log(await run(model, 'Pay.', { program }))
