# Made by make dist of DPL. Put it into a tap as Formula/dpl.rb.
class Dpl < Formula
  desc "Ledger of calls between processes, which notices the dead"
  homepage "https://github.com/dpl-project/dpl"
  version "{{.Version}}"
  license "MIT"
{{range .Archives}}
  on_{{.System}} do
    on_{{.Processor}} do
      url "https://github.com/dpl-project/dpl/releases/download/v{{$.Version}}/{{.Name}}"
      sha256 "{{.Sum}}"
    end
  end
{{end}}
  def install
    prefix.install Dir["bin", "share"]
    prefix.install "lib" if File.exist?("lib")
  end

  test do
    ENV["DPL_LEDGER"] = testpath/"ledger"
    system bin/"dpl-run", "--op=brewed", "--", "true"
    system bin/"dpl-status", "--op=brewed", "--check=completed"
  end
end
