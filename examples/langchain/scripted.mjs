// Runs the agent with a scripted model, for the test, without a real model or a network.
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage } from '@langchain/core/messages'
import { run } from './agent.mjs'

const [program, url] = process.argv.slice(2)

class Scripted extends BaseChatModel {
  turn = 0
  _llmType() { return 'scripted' }
  bindTools() { return this }
  async _generate(messages) {
    const seen = JSON.stringify(messages.at(-1).content)
    const message = this.say(seen)
    return { generations: [{ text: message.text, message }] }
  }
  say(seen) {
    const call = (name, args) => new AIMessage({ content: '', tool_calls: [{ id: name, name, args, type: 'tool_call' }] })
    switch (this.turn++) {
      case 0: return call('browser_navigate', { url })
      case 1: return call('browser_interact', { steps: [{ action: 'click', ref: Number(/\[(\d+)\] Pay/.exec(seen)[1]) }] })
      default: return new AIMessage(/Thanks for \d+/.exec(seen)?.[0] ?? `no thanks in ${seen}`)
    }
  }
}
console.log(await run(new Scripted({}), 'Pay.', { program }))
